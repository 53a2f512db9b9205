//! ARIN's bulk WHOIS as XML: `<bulkwhois>` with one element an object.
//!
//! ```text
//! <net><handle>NET-192-0-2-0-1</handle><name>EXAMPLE</name><orgHandle>EX-1</orgHandle>
//!   <startAddress>192.000.002.000</startAddress><endAddress>192.000.002.255</endAddress>
//!   <netBlocks><netBlock><type>S</type><startAddress>…</startAddress>
//!     <endAddress>…</endAddress></netBlock></netBlocks></net>
//! <org><handle>EX-1</handle><name>Example Widgets</name>
//!   <iso3166-1><code2>US</code2></iso3166-1></org>
//! ```
//!
//! A `<customer>` is like an `<org>`; a net names it in `<customerHandle>`.
//!
//! The elements are those that ARIN's own stylesheet (`legacy.xsl`, in the archive) turns into its
//! text form. Texts are cut, a tag may take 1 MiB and elements may nest 64 deep, so that no
//! document can fill the memory.

mod limited_reader;
mod net_ranges;

use std::io::BufRead;

use hierarchy::Registry;
use quick_xml::Reader;
use quick_xml::errors::Error as XmlError;
use quick_xml::events::{BytesRef, Event};

use self::limited_reader::LimitedReader;
use self::net_ranges::NetRanges;
use super::attributes::{Attribute, Attributes, Class, ObjectError};
use super::object::Object;
use super::report::WhoisReport;
use crate::format::Format;
use crate::text_error::TextError;

/// Elements within elements.
const MAX_DEPTH: usize = 64;
/// Bytes of a text that are kept.
const MAX_TEXT: usize = 1024;
/// Depth of the objects, right below `<bulkwhois>`.
const OBJECT_DEPTH: usize = 2;

/// Reads a document and passes each net and each organisation to `handler`. Malformed objects are
/// counted; whether there are too many is for the caller to judge.
pub fn read(
    input: impl BufRead,
    handler: &mut dyn FnMut(&Object<'_>),
) -> Result<WhoisReport, TextError> {
    let mut reader = Reader::from_reader(LimitedReader::new(input));
    let mut document = Document::new(handler);
    let mut buffer = vec![];
    loop {
        buffer.clear();
        reader.get_mut().allow_next_event();
        let event = reader.read_event_into(&mut buffer);
        let line = reader.get_ref().line();
        let at = reader.buffer_position();
        match event {
            Ok(Event::Eof) => return document.finish(line),
            Ok(event) => document.handle_event(&event, line, at)?,
            Err(XmlError::Io(error)) => {
                let source = std::io::Error::new(error.kind(), error.to_string());
                return Err(TextError::Read { line, source });
            }
            Err(error) => return Err(TextError::Xml { at, reason: error.to_string() }),
        }
    }
}

/// State between the events of a document.
struct Document<'h> {
    report: WhoisReport,
    /// Local names of the open elements.
    path: Vec<String>,
    /// Text of the innermost element since its last child.
    text: String,
    object_line: u64,
    attributes: Attributes,
    ranges: NetRanges,
    handler: &'h mut dyn FnMut(&Object<'_>),
}

impl<'h> Document<'h> {
    fn new(handler: &'h mut dyn FnMut(&Object<'_>)) -> Self {
        Self {
            report: WhoisReport::new(Format::ArinXml),
            path: vec![],
            text: String::new(),
            object_line: 0,
            attributes: Attributes::default(),
            ranges: NetRanges::default(),
            handler,
        }
    }

    fn handle_event(&mut self, event: &Event<'_>, line: u64, at: u64) -> Result<(), TextError> {
        match event {
            Event::Start(tag) => self.open_element(tag.local_name().as_ref(), line, at)?,
            Event::Empty(tag) => {
                self.open_element(tag.local_name().as_ref(), line, at)?;
                self.close_element();
            }
            // The parser has compared the name with that of the start tag.
            Event::End(_) => self.close_element(),
            Event::Text(text) => self.add_text(text),
            Event::CData(text) => self.add_text(text),
            Event::GeneralRef(reference) => self.add_reference(reference),
            _ => {}
        }
        Ok(())
    }

    /// The report, where every element was closed.
    fn finish(mut self, line: u64) -> Result<WhoisReport, TextError> {
        self.report.lines = line;
        if self.path.is_empty() { Ok(self.report) } else { Err(TextError::CutShort { line }) }
    }

    fn open_element(&mut self, name: &str, line: u64, at: u64) -> Result<(), TextError> {
        if self.path.len() == MAX_DEPTH {
            let reason = format!("elements nest more than {MAX_DEPTH} deep");
            return Err(TextError::Xml { at, reason });
        }
        self.path.push(name.to_owned());
        self.text.clear();
        if self.path.len() == OBJECT_DEPTH {
            self.attributes.clear();
            self.ranges = NetRanges::default();
            self.object_line = line;
        }
        Ok(())
    }

    fn add_text(&mut self, text: &str) {
        let room = MAX_TEXT.saturating_sub(self.text.len());
        self.text.push_str(&text[..text.floor_char_boundary(room)]);
    }

    /// Adds `&amp;` or `&#233;`. XML defines five names, and ARIN no others.
    fn add_reference(&mut self, reference: &BytesRef<'_>) {
        if let Ok(Some(character)) = reference.resolve_char_ref() {
            self.add_text(character.encode_utf8(&mut [0; 4]));
        } else if let Some(text) = quick_xml::escape::resolve_predefined_entity(reference) {
            self.add_text(text);
        }
    }

    fn close_element(&mut self) {
        let path: Vec<&str> = self.path.iter().skip(1).map(String::as_str).collect();
        let text = self.text.trim_ascii();
        let mut value = |attribute| self.attributes.add(attribute, text.as_bytes());
        match path[..] {
            ["net", "startAddress"] => self.ranges.span.first = text.to_owned(),
            ["net", "endAddress"] => self.ranges.span.last = text.to_owned(),
            ["net", "netBlocks", "netBlock", "startAddress"] => {
                self.ranges.block.first = text.to_owned();
            }
            ["net", "netBlocks", "netBlock", "endAddress"] => {
                self.ranges.block.last = text.to_owned();
            }
            ["net", "netBlocks", "netBlock", "type"] => self.ranges.set_type(text),
            ["net", "netBlocks", "netBlock"] => self.ranges.end_block(),
            ["net", "orgHandle" | "customerHandle"] | ["org" | "customer", "handle"] => {
                value(Attribute::Handle);
            }
            ["net", "name"] => value(Attribute::Netname),
            ["net", "updateDate"] => value(Attribute::Changed),
            ["org" | "customer", "name"] => value(Attribute::Name),
            ["org" | "customer", "iso3166-1", "code2"] => value(Attribute::Country),
            [_] => self.end_object(),
            _ => {}
        }
        self.path.pop();
        self.text.clear();
    }

    fn end_object(&mut self) {
        let Some(name) = self.path.last() else { return };
        self.report.count_object(name);
        let result = match name.as_str() {
            "net" => self.handle_net(),
            "org" | "customer" => self.attributes.handle(
                Class::Organisation,
                Some(Registry::Arin),
                &mut self.report,
                self.handler,
            ),
            _ => Ok(()),
        };
        if let Err(error) = result {
            self.report.rejects.add(self.object_line, error, self.ranges.text().as_bytes());
        }
    }

    fn handle_net(&mut self) -> Result<(), ObjectError> {
        if let Some(status) = self.ranges.status() {
            self.attributes.add(Attribute::Status, status.as_bytes());
        }
        let ranges = self.ranges.parse()?;
        let registry = Some(Registry::Arin);
        self.attributes.handle_net(&ranges, registry, &mut self.report, self.handler)
    }
}
