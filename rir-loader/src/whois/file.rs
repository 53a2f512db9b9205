//! The lines of a text to objects.

use hierarchy::{Range, Registry};

use super::draft::Draft;
use super::fault::Fault;
use super::object::Object;
use super::report::WhoisReport;
use super::slot::{Class, Slot, class_of, slot_of};
use crate::dialect::Dialect;
use crate::input::{LineError, Lines};
use crate::text_error::TextError;

/// Bytes of the longest line.
pub(crate) const LONGEST_LINE: usize = 64 * 1024;
/// Lines of the longest object.
const MOST_LINES: u64 = 100_000;
/// Bytes of an object's first line that are kept for a message.
const KEPT: usize = 400;

/// Whoever takes the objects.
pub(super) type Take<'t> = &'t mut dyn FnMut(&Object<'_>);

/// Reads a whole text of paragraphs from a stream of unpacked bytes.
pub fn read_text(
    dialect: Dialect,
    stream: impl std::io::Read,
    take: Take<'_>,
) -> Result<WhoisReport, TextError> {
    read_lines(dialect, Lines::new(Box::new(stream), LONGEST_LINE), take)
}

pub(crate) fn read_lines(
    dialect: Dialect,
    mut lines: Lines<'_>,
    take: Take<'_>,
) -> Result<WhoisReport, TextError> {
    let mut reading = Reading::new(dialect);
    let broken_off = loop {
        match lines.next() {
            Ok(Some(line)) => reading.line(line, take),
            Ok(None) => break false,
            Err(LineError::TooLong) => {
                let text = lines.skip().map_err(|error| TextError::of(error, lines.number()))?;
                reading.long_line(&text);
            }
            Err(LineError::BrokenOff) => {
                reading.line(&lines.remainder(), take);
                break true;
            }
            Err(error @ LineError::Io(_)) => return Err(TextError::of(error, lines.number())),
        }
    };
    if broken_off && reading.is_cut_short() {
        return Err(TextError::CutShort { line: reading.line });
    }
    reading.end_object(take);
    Ok(reading.finish(lines.bytes()))
}

struct Reading {
    dialect: Dialect,
    /// Whose text it is when an object does not say.
    registry: Option<Registry>,
    report: WhoisReport,
    draft: Draft,
    /// The ranges of the latest net.
    ranges: Vec<Range>,
    line: u64,
    open: Option<Open>,
    /// Slot of the latest attribute, for lines that go on with it.
    latest: Option<Slot>,
    /// First line of the object, cut.
    first: Vec<u8>,
    /// First key of the latest objects, and how many in a row had it: dumps come sorted by class.
    key: Vec<u8>,
    in_a_row: u64,
}

/// An object that has begun.
struct Open {
    class: Class,
    line: u64,
    fault: Option<Broken>,
}

/// Where an object is wrong.
struct Broken {
    fault: Fault,
    line: u64,
    text: Vec<u8>,
}

impl Reading {
    fn new(dialect: Dialect) -> Self {
        let registry = match dialect {
            Dialect::ArinText => Some(Registry::Arin),
            Dialect::Lacnic => Some(Registry::Lacnic),
            _ => None,
        };
        Self {
            dialect,
            registry,
            report: WhoisReport::new(dialect),
            draft: Draft::default(),
            ranges: vec![],
            line: 0,
            open: None,
            latest: None,
            first: Vec::with_capacity(KEPT),
            key: vec![],
            in_a_row: 0,
        }
    }

    fn line(&mut self, line: &[u8], take: Take<'_>) {
        self.line += 1;
        match line.first() {
            None => self.end_object(take),
            Some(b'#' | b'%') => {}
            Some(b' ' | b'\t' | b'+') => self.go_on(line, take),
            Some(_) => self.attribute(line),
        }
    }

    fn go_on(&mut self, line: &[u8], take: Take<'_>) {
        let value = line.strip_prefix(b"+").unwrap_or(line).trim_ascii();
        if value.is_empty() && line[0] != b'+' {
            return self.end_object(take);
        }
        match (&self.open, self.latest) {
            (None, _) => self.begin(line),
            (Some(_), Some(slot)) => self.draft.go_on(slot, value),
            (Some(_), None) => {}
        }
        self.limit(line);
    }

    fn attribute(&mut self, line: &[u8]) {
        let Some(open) = &self.open else { return self.begin(line) };
        if open.class == Class::Other {
            return;
        }
        let class = open.class;
        match split(line) {
            Some((key, value)) => {
                self.latest = slot_of(self.dialect, class, key);
                if let Some(slot) = self.latest {
                    self.draft.put(slot, value);
                }
            }
            None => self.fault(Fault::NoAttribute, line),
        }
        self.limit(line);
    }

    /// The first line of an object.
    fn begin(&mut self, line: &[u8]) {
        self.first.clear();
        self.first.extend_from_slice(&line[..line.len().min(KEPT)]);
        self.draft.clear();
        self.report.objects += 1;
        let Some((key, value)) = split(line).filter(|_| !line[0].is_ascii_whitespace()) else {
            self.open = Some(Open { class: Class::Net, line: self.line, fault: None });
            self.latest = None;
            return self.fault(Fault::NoAttribute, line);
        };
        let (class, slot) = class_of(self.dialect, key);
        self.count_class(key);
        self.latest = slot;
        if let Some(slot) = slot {
            self.draft.put(slot, value);
        }
        self.open = Some(Open { class, line: self.line, fault: None });
    }

    fn count_class(&mut self, key: &[u8]) {
        if self.key != key {
            self.report.count_class(&self.key, self.in_a_row);
            self.key.clear();
            self.key.extend_from_slice(key);
            self.in_a_row = 0;
        }
        self.in_a_row += 1;
    }

    fn limit(&mut self, line: &[u8]) {
        let lines = self.open.as_ref().map_or(0, |open| self.line - open.line);
        if lines == MOST_LINES {
            self.fault(Fault::TooManyLines, line);
        }
    }

    fn long_line(&mut self, text: &[u8]) {
        if self.open.is_none() {
            self.begin(text);
        }
        self.line += 1;
        self.fault(Fault::LongLine, text);
    }

    /// The first fault of an object counts; what is passed over may be as it likes.
    fn fault(&mut self, fault: Fault, text: &[u8]) {
        let line = self.line;
        let Some(open) = self.open.as_mut().filter(|open| open.class != Class::Other) else {
            return;
        };
        if open.fault.is_none() {
            open.fault = Some(Broken { fault, line, text: text[..text.len().min(KEPT)].to_vec() });
        }
    }

    /// The text ended within a line, and the object does not have what every object ends with.
    fn is_cut_short(&self) -> bool {
        self.open.as_ref().is_some_and(|open| open.class != Class::Other)
            && !self.draft.has_source()
    }

    fn end_object(&mut self, take: Take<'_>) {
        let Some(open) = self.open.take() else { return };
        self.latest = None;
        let outcome = match open.fault {
            Some(broken) => Err(broken),
            None => self.handover(open.class, take).map_err(|fault| Broken {
                fault,
                line: open.line,
                text: self.first.clone(),
            }),
        };
        if let Err(Broken { fault, line, text }) = outcome {
            self.report.rejects.add(line, fault, &text);
        }
    }

    fn handover(&mut self, class: Class, take: Take<'_>) -> Result<(), Fault> {
        if class == Class::Other {
            return Ok(());
        }
        let texts = self.draft.texts(self.registry)?;
        if class == Class::Organisation {
            take(&texts.organisation()?);
            self.report.organisations += 1;
        } else {
            // Every range is read before the first is handed over: an object is taken as a whole or
            // not at all.
            self.draft.ranges_into(&mut self.ranges)?;
            for range in &self.ranges {
                self.report.ranges[usize::from(!range.is_v4())] += 1;
                take(&texts.net(*range));
            }
        }
        self.report.latin1 += u64::from(texts.latin1);
        Ok(())
    }

    fn finish(mut self, bytes: u64) -> WhoisReport {
        self.report.count_class(&self.key, self.in_a_row);
        self.report.lines = self.line;
        self.report.bytes = bytes;
        self.report
    }
}

/// Key and value of an attribute.
fn split(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let colon = memchr::memchr(b':', line)?;
    let key = line[..colon].trim_ascii_end();
    (!key.is_empty()).then(|| (key, line[colon + 1..].trim_ascii()))
}
