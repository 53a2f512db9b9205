//! The events of a document to objects.

use hierarchy::Registry;
use quick_xml::errors::IllFormedError;
use quick_xml::events::{BytesRef, Event};

use super::element::Element;
use super::net::Blocks;
use super::path::Path;
use crate::dialect::Dialect;
use crate::whois::draft::Draft;
use crate::whois::fault::Fault;
use crate::whois::file::Take;
use crate::whois::report::WhoisReport;
use crate::whois::slot::Slot;

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
    draft: Draft,
    blocks: Blocks,
    line: u64,
}

impl Document {
    pub(super) fn new() -> Self {
        Self {
            report: WhoisReport::new(Dialect::ArinXml),
            path: Path::default(),
            text: Vec::with_capacity(LONGEST_TEXT),
            draft: Draft::default(),
            blocks: Blocks::default(),
            line: 0,
        }
    }

    /// Takes an event in; `line` counts the lines up to it, and is asked for only where an object begins.
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
            self.draft.clear();
            self.blocks.clear();
            self.line = line();
        }
        Ok(())
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
            self.end_part(element);
        }
        self.path.close();
        self.text.clear();
    }

    fn end_part(&mut self, element: Element) {
        let text = self.text.trim_ascii();
        match element {
            Element::Value(slot) => self.draft.put(slot, text),
            Element::Outer(end) => self.blocks.outer(end, text),
            Element::BlockEnd(end) => self.blocks.part(end, text),
            Element::BlockKind => self.blocks.kind(text),
            Element::Block => self.blocks.end_block(),
            _ => {}
        }
    }

    fn end_object(&mut self, element: Element, take: Take<'_>) {
        self.report.objects += 1;
        self.report.count_class(self.path.local_name(), 1);
        let outcome = match element {
            Element::Net => self.hand_net_over(take),
            Element::Organisation => self.hand_organisation_over(take),
            _ => Ok(()),
        };
        if let Err(fault) = outcome {
            self.report.rejects.add(self.line, fault, self.blocks.shown().as_bytes());
        }
    }

    fn hand_organisation_over(&mut self, take: Take<'_>) -> Result<(), Fault> {
        let texts = self.draft.texts(Some(Registry::Arin))?;
        take(&texts.organisation()?);
        self.report.organisations += 1;
        Ok(())
    }

    fn hand_net_over(&mut self, take: Take<'_>) -> Result<(), Fault> {
        if let Some(status) = self.blocks.status() {
            self.draft.put(Slot::Status, status.as_bytes());
        }
        let ranges = self.blocks.ranges()?;
        let texts = self.draft.texts(Some(Registry::Arin))?;
        for range in ranges {
            self.report.ranges[usize::from(!range.is_v4())] += 1;
            take(&texts.net(*range));
        }
        Ok(())
    }
}
