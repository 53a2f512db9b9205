//! The events of a document to the parts of objects.

use quick_xml::errors::IllFormedError;
use quick_xml::events::{BytesRef, Event};

use super::element::Element;
use super::leaf::Leaf;
use super::path::Path;
use super::record::Record;
use crate::dialect::Dialect;
use crate::whois::file::Take;
use crate::whois::report::WhoisReport;

/// Elements within elements.
const DEEPEST: usize = 64;
/// Bytes of a text that are kept.
const LONGEST_TEXT: usize = 1024;
/// How deep the elements of an object are: `bulkwhois`, the object, its parts.
const OBJECT: usize = 2;

/// Why a document cannot be followed.
#[derive(Debug, thiserror::Error)]
pub(super) enum Malformed {
    #[error("elements nest more than {DEEPEST} deep")]
    Deep,
    #[error(transparent)]
    End(#[from] IllFormedError),
}

/// A document while its events come in.
pub(super) struct Document {
    report: WhoisReport,
    path: Path,
    text: Vec<u8>,
    record: Record,
}

impl Document {
    pub(super) fn new() -> Self {
        Self {
            report: WhoisReport::new(Dialect::ArinXml),
            path: Path::default(),
            text: Vec::with_capacity(LONGEST_TEXT),
            record: Record::default(),
        }
    }

    /// Takes an event in; `line` counts the lines up to it, and is asked for only where an object
    /// begins.
    pub(super) fn event(
        &mut self,
        event: &Event<'_>,
        line: impl FnOnce() -> u64,
        take: Take<'_>,
    ) -> Result<(), Malformed> {
        match event {
            Event::Start(tag) => self.open(tag.name().as_ref(), line)?,
            Event::Empty(tag) => {
                self.open(tag.name().as_ref(), line)?;
                self.close(take);
            }
            Event::End(tag) => {
                self.path.check_end(tag.name().as_ref())?;
                self.close(take);
            }
            Event::Text(text) => self.add(text.as_bytes()),
            Event::CData(text) => self.add(text.as_bytes()),
            Event::GeneralRef(reference) => self.refer(reference),
            _ => {}
        }
        Ok(())
    }

    /// The report, when every element was closed.
    pub(super) fn finish(self) -> Option<WhoisReport> {
        (self.path.depth() == 0).then_some(self.report)
    }

    fn open(&mut self, name: &str, line: impl FnOnce() -> u64) -> Result<(), Malformed> {
        if self.path.depth() == DEEPEST {
            return Err(Malformed::Deep);
        }
        self.path.open(name);
        self.text.clear();
        if self.path.depth() == OBJECT {
            self.record.begin(line());
        }
        Ok(())
    }

    /// Whether an element without others in it would be a part of an object here.
    pub(super) fn is_among_parts(&self) -> bool {
        (OBJECT..DEEPEST).contains(&self.path.depth())
    }

    /// Takes in an element with its text and its end, right behind a tag: what its three events
    /// would do. It has to be a part of an object.
    pub(super) fn leaf(&mut self, leaf: &Leaf<'_>) {
        let text = &leaf.text[..leaf.text.len().min(LONGEST_TEXT)];
        self.record.part(self.path.within(leaf.name), text.trim_ascii());
    }

    /// A piece of text within the innermost element.
    pub(super) fn add(&mut self, text: &[u8]) {
        if self.path.element().is_some_and(Element::has_text) {
            let room = LONGEST_TEXT.saturating_sub(self.text.len());
            self.text.extend_from_slice(&text[..text.len().min(room)]);
        }
    }

    /// `&amp;` and `&#233;`; XML defines five names, and ARIN no others.
    fn refer(&mut self, reference: &BytesRef<'_>) {
        if let Ok(Some(letter)) = reference.resolve_char_ref() {
            return self.add(letter.encode_utf8(&mut [0; 4]).as_bytes());
        }
        if let Some(text) = quick_xml::escape::resolve_predefined_entity(reference) {
            self.add(text.as_bytes());
        }
    }

    fn close(&mut self, take: Take<'_>) {
        let Some(element) = self.path.element() else { return };
        if self.path.depth() == OBJECT {
            self.end_object(element, take);
        } else {
            self.record.part(element, self.text.trim_ascii());
        }
        self.path.close();
        self.text.clear();
    }

    fn end_object(&mut self, element: Element, take: Take<'_>) {
        self.report.objects += 1;
        self.report.count_class(self.path.local_name(), 1);
        self.record.handover(element, &mut self.report, take);
    }
}
