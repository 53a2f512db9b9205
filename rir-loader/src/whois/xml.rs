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
//! The elements are those that ARIN's own stylesheet (`legacy.xsl`, in the archive) turns into its
//! text form. What is kept of a text is cut, a tag may take 1 MiB and elements may nest 64 deep, so
//! that no document can fill the memory.
//!
//! The parser points into a window of the stream ([`window`]) and copies nothing. It begins anew
//! with each block of the stream, so that what it would remember of the open elements is kept here
//! ([`path`]); what each of them is, is found out once, when it opens ([`element`]). Most of a
//! document are elements with a plain text in them, which are taken in one step each and without
//! the parser ([`leaf`]).

mod document;
mod element;
mod leaf;
mod net;
mod path;
mod record;
mod window;

use std::io::{self, Read};

use quick_xml::Reader;
use quick_xml::errors::{Error, SyntaxError};
use quick_xml::events::Event;

use self::document::Document;
use self::leaf::Leaf;
use self::window::Window;
use super::file::Take;
use super::report::WhoisReport;
use crate::text_error::TextError;

/// Bytes of the longest tag or text.
const LONGEST: usize = 1024 * 1024;

/// UTF-8's byte order mark. The parser drops it where it begins, which may be in the middle of a
/// text here.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// Reads a whole document from a stream of unpacked bytes.
pub fn read_xml(stream: impl Read, take: Take<'_>) -> Result<WhoisReport, TextError> {
    let mut window = Window::new(stream);
    let mut document = Document::new();
    let mut place = Place::default();
    while !window.is_last() {
        window.fill().map_err(|source| TextError::Read { line: place.line(), source })?;
        let passed = read_events(window.rest(), window.is_last(), place, &mut document, take)?;
        place.pass(&window.rest()[..passed]);
        window.pass(passed);
    }
    let mut report = document.finish().ok_or(TextError::CutShort { line: place.line() })?;
    report.lines = place.line();
    report.bytes = place.bytes;
    Ok(report)
}

/// Where the reading is.
#[derive(Debug, Clone, Copy, Default)]
struct Place {
    bytes: u64,
    newlines: u64,
}

impl Place {
    fn pass(&mut self, text: &[u8]) {
        self.bytes += text.len() as u64;
        self.newlines += memchr::memchr_iter(b'\n', text).count() as u64;
    }

    /// The line that is being read, from 1.
    fn line(&self) -> u64 {
        self.newlines + 1
    }

    fn malformed(&self, why: &impl ToString) -> TextError {
        TextError::Markup { at: self.bytes, why: why.to_string() }
    }

    fn endless(&self) -> TextError {
        let source =
            io::Error::new(io::ErrorKind::InvalidData, "a tag or a text of more than 1 MiB");
        TextError::Read { line: self.line(), source }
    }
}

/// A place in a window. Lines are counted only as far as somebody asks for them.
struct Cursor<'t> {
    text: &'t [u8],
    counted: usize,
    place: Place,
}

impl Cursor<'_> {
    fn at(&mut self, byte: usize) -> Place {
        self.place.pass(&self.text[self.counted..byte]);
        self.counted = byte;
        self.place
    }
}

/// Takes the events in that are whole in `text`, which is all there is if it is `last`. Returns the
/// bytes they take up.
fn read_events(
    text: &[u8],
    last: bool,
    place: Place,
    document: &mut Document,
    take: Take<'_>,
) -> Result<usize, TextError> {
    let mut cursor = Cursor { text, counted: 0, place };
    let mut passed = if place.bytes > 0 { marks(text, document) } else { 0 };
    let mut reader = Reader::from_reader(&text[passed..]);
    // The names of end tags are compared with the path, as this reader does not know what was
    // opened before it began.
    reader.config_mut().check_end_names = false;
    reader.config_mut().allow_unmatched_ends = true;
    let mut behind_tag = false;
    loop {
        if behind_tag {
            // Between two tags, which is where the parser stands, it remembers nothing of what is
            // before it.
            *reader.get_mut() = pass_leaves(reader.get_ref(), document);
            passed = text.len() - reader.get_ref().len();
        }
        let event = reader.read_event();
        let behind = text.len() - reader.get_ref().len();
        match event {
            Ok(Event::Eof) => return Ok(behind),
            // It may go on in the next block.
            Ok(Event::Text(_)) if !last && behind == text.len() => {
                return if text.len() - passed < LONGEST {
                    Ok(passed)
                } else {
                    Err(cursor.at(passed).endless())
                };
            }
            Ok(event) => {
                behind_tag = matches!(event, Event::Start(_) | Event::Empty(_) | Event::End(_));
                let outcome = document.event(&event, || cursor.at(behind).line(), take);
                outcome.map_err(|why| cursor.at(behind).malformed(&why))?;
            }
            Err(_) if !last && text.len() - passed < LONGEST => return Ok(passed),
            Err(error) if !last && is_open(&error) => return Err(cursor.at(passed).endless()),
            Err(error) => return Err(cursor.at(passed).malformed(&error)),
        }
        passed = behind;
    }
}

/// Takes in as many leaves as there are at the start. Returns what is behind them.
fn pass_leaves<'t>(mut text: &'t [u8], document: &mut Document) -> &'t [u8] {
    while document.is_among_parts()
        && let Some(leaf) = Leaf::at_start(text)
    {
        document.leaf(&leaf);
        text = leaf.behind;
    }
    text
}

/// Whether the parser misses the end of a tag, a comment or the like.
fn is_open(error: &Error) -> bool {
    matches!(error, Error::Syntax(why) if *why != SyntaxError::InvalidBangMarkup)
}

/// Takes in the byte order marks that a block begins with: within a document they are text.
fn marks(text: &[u8], document: &mut Document) -> usize {
    let marks = text.chunks_exact(MARK.len()).take_while(|chunk| *chunk == MARK);
    marks.inspect(|mark| document.add(mark)).count() * MARK.len()
}
