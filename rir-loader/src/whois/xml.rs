//! ARIN's bulk WHOIS as XML: `<bulkwhois>` with one element an object, read as a stream of tags.
//!
//! ```text
//! <net><handle>NET-192-0-2-0-1</handle><name>EXAMPLE</name><orgHandle>EX-1</orgHandle>
//!   <startAddress>192.000.002.000</startAddress><endAddress>192.000.002.255</endAddress>
//!   <netBlocks><netBlock><type>S</type><startAddress>…</startAddress><endAddress>…</endAddress></netBlock></netBlocks></net>
//! <org><handle>EX-1</handle><name>Example Widgets</name><iso3166-1><code2>US</code2></iso3166-1></org>
//! <customer>…</customer>   like <org>; a net names it in <customerHandle>
//! ```
//!
//! The elements are those that ARIN's own stylesheet (`legacy.xsl`, in the archive) turns into its text form. What is kept of
//! a text is cut, a tag may take 1 MiB and elements may nest 64 deep, so that no document can fill the memory.

mod leash;
mod net;

use std::io::Read;

use hierarchy::Registry;
use quick_xml::Reader;
use quick_xml::events::{BytesRef, Event};

use self::leash::{Leash, Progress};
use self::net::Blocks;
use super::draft::Draft;
use super::fault::Fault;
use super::file::Take;
use super::report::WhoisReport;
use super::slot::{Class, Slot};
use crate::dialect::Dialect;
use crate::text_error::TextError;

/// Elements within elements.
const DEEPEST: usize = 64;
/// Bytes of a text that are kept.
const LONGEST_TEXT: usize = 1024;

/// Reads a whole document from a stream of unpacked bytes.
pub fn read_xml(stream: impl Read, take: Take<'_>) -> Result<WhoisReport, TextError> {
    let progress = Progress::default();
    let mut reader = Reader::from_reader(Leash::new(stream, progress.clone()));
    let mut document = Document::new();
    let mut buffer = Vec::new();
    loop {
        buffer.clear();
        progress.let_go();
        let event = reader.read_event_into(&mut buffer).map_err(|error| progress.error(error))?;
        if matches!(event, Event::Eof) {
            break;
        }
        document.event(&event, &progress, take)?;
    }
    if !document.path.is_empty() {
        return Err(TextError::CutShort { line: progress.line() });
    }
    document.report.lines = progress.line();
    document.report.bytes = progress.bytes();
    Ok(document.report)
}

struct Document {
    report: WhoisReport,
    /// Local names of the open elements, the document's own first.
    path: Path,
    text: Vec<u8>,
    draft: Draft,
    blocks: Blocks,
    line: u64,
}

/// Names end to end in one allocation.
#[derive(Default)]
struct Path {
    names: Vec<u8>,
    starts: Vec<usize>,
}

impl Path {
    fn len(&self) -> usize {
        self.starts.len()
    }

    fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    fn push(&mut self, name: &[u8]) {
        self.starts.push(self.names.len());
        self.names.extend_from_slice(name);
    }

    fn pop(&mut self) {
        if let Some(start) = self.starts.pop() {
            self.names.truncate(start);
        }
    }

    fn get(&self, place: usize) -> Option<&[u8]> {
        let start = *self.starts.get(place)?;
        let end = self.starts.get(place + 1).copied().unwrap_or(self.names.len());
        self.names.get(start..end)
    }
}

/// How deep the elements of an object are: `bulkwhois`, the object, its parts.
const OBJECT: usize = 2;

impl Document {
    fn new() -> Self {
        let report = WhoisReport::new(Dialect::ArinXml);
        let text = Vec::with_capacity(LONGEST_TEXT);
        Self {
            report,
            path: Path::default(),
            text,
            draft: Draft::default(),
            blocks: Blocks::default(),
            line: 0,
        }
    }

    fn event(&mut self, event: &Event<'_>, progress: &Progress, take: Take<'_>) -> Result<(), TextError> {
        match event {
            Event::Start(tag) => self.open(tag.local_name().as_ref().as_bytes(), progress)?,
            Event::Empty(tag) => {
                self.open(tag.local_name().as_ref().as_bytes(), progress)?;
                self.close(take);
            }
            Event::End(_) => self.close(take),
            Event::Text(text) => self.add(text.as_bytes()),
            Event::CData(text) => self.add(text.as_bytes()),
            Event::GeneralRef(reference) => self.refer(reference),
            _ => {}
        }
        Ok(())
    }

    fn open(&mut self, name: &[u8], progress: &Progress) -> Result<(), TextError> {
        if self.path.len() == DEEPEST {
            let why = format!("elements nest more than {DEEPEST} deep");
            return Err(TextError::Markup { at: progress.bytes(), why });
        }
        self.path.push(name);
        self.text.clear();
        if self.path.len() == OBJECT {
            self.draft.clear();
            self.blocks.clear();
            self.line = progress.line();
        }
        Ok(())
    }

    fn add(&mut self, text: &[u8]) {
        let room = LONGEST_TEXT.saturating_sub(self.text.len());
        self.text.extend_from_slice(&text[..text.len().min(room)]);
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
        if self.path.len() == OBJECT {
            self.end_object(take);
        } else if self.path.len() > OBJECT {
            self.end_part();
        }
        self.path.pop();
        self.text.clear();
    }

    fn class(&self) -> Class {
        match self.path.get(OBJECT - 1) {
            Some(b"net") => Class::Net,
            Some(b"org" | b"customer") => Class::Organisation,
            _ => Class::Other,
        }
    }

    fn end_part(&mut self) {
        let class = self.class();
        let text = self.text.trim_ascii();
        let parts: [&[u8]; 3] = std::array::from_fn(|part| self.path.get(OBJECT + part).unwrap_or_default());
        let parts = &parts[..(self.path.len() - OBJECT).min(3)];
        if self.path.len() > OBJECT + 3 {
            return;
        }
        match (class, parts) {
            (Class::Net, [b"netBlocks", b"netBlock", part]) => self.blocks.part(part, text),
            (Class::Net, [b"netBlocks", b"netBlock"]) => self.blocks.end_block(),
            (Class::Net, [part @ (b"startAddress" | b"endAddress")]) => self.blocks.outer(part, text),
            (Class::Net, [part]) => {
                if let Some(slot) = net_slot(part) {
                    self.draft.put(slot, text);
                }
            }
            (Class::Organisation, [b"handle"]) => self.draft.put(Slot::Handle, text),
            (Class::Organisation, [b"name"]) => self.draft.put(Slot::Name, text),
            (Class::Organisation, [b"iso3166-1", b"code2"]) => self.draft.put(Slot::Country, text),
            _ => {}
        }
    }

    fn end_object(&mut self, take: Take<'_>) {
        self.report.objects += 1;
        self.report.count_class(self.path.get(OBJECT - 1).unwrap_or_default(), 1);
        if let Err(fault) = self.hand_over(take) {
            let text = self.blocks.shown();
            self.report.rejects.add(self.line, fault, text.as_bytes());
        }
    }

    fn hand_over(&mut self, take: Take<'_>) -> Result<(), Fault> {
        match self.class() {
            Class::Other => return Ok(()),
            Class::Organisation => {
                let texts = self.draft.texts(Some(Registry::Arin))?;
                take(&texts.organisation()?);
                self.report.organisations += 1;
            }
            Class::Net => {
                let ranges = self.blocks.ranges()?;
                if let Some(status) = self.blocks.status() {
                    self.draft.put(Slot::Status, status.as_bytes());
                }
                let texts = self.draft.texts(Some(Registry::Arin))?;
                for range in ranges {
                    self.report.ranges[usize::from(!range.is_v4())] += 1;
                    take(&texts.net(range));
                }
            }
        }
        Ok(())
    }
}

fn net_slot(part: &[u8]) -> Option<Slot> {
    Some(match part {
        b"orgHandle" | b"customerHandle" => Slot::Handle,
        b"name" => Slot::Netname,
        b"updateDate" => Slot::Changed,
        _ => return None,
    })
}
