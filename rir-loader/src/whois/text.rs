//! Reads the paragraphs of RPSL, of LACNIC's and of ARIN's bulk text.

use std::io::BufRead;

use hierarchy::Registry;

use super::attributes::{Attribute, Attributes, Class, ObjectError, decode};
use super::object::Object;
use super::report::WhoisReport;
use crate::format::Format;
use crate::input::{Line, Lines};
use crate::text_error::TextError;

/// Longest line in bytes.
const MAX_LINE: usize = 64 * 1024;
/// Lines of the longest object.
const MAX_LINES: u64 = 100_000;
/// Bytes of a line that are kept for the report of a malformed object.
const MAX_EXCERPT: usize = 400;

/// Reads a dump and passes each net and each organisation to `handler`. Malformed objects are
/// counted; whether there are too many is for the caller to judge.
pub fn read(
    format: Format,
    input: impl BufRead,
    handler: &mut dyn FnMut(&Object<'_>),
) -> Result<WhoisReport, TextError> {
    let mut lines = Lines::new(input, MAX_LINE);
    let mut parser = Parser::new(format, handler);
    while let Some(line) = lines.next()? {
        parser.report.lines += 1;
        match line {
            Line::Complete(text) => parser.parse_line(text),
            Line::Overlong(start) => parser.reject_line(start),
            Line::Unterminated(text) => {
                parser.parse_line(text);
                if parser.is_incomplete() {
                    return Err(TextError::CutShort { line: parser.report.lines });
                }
            }
        }
    }
    parser.end_object();
    Ok(parser.report)
}

struct Parser<'h> {
    format: Format,
    /// Registry of an object that names no source.
    registry: Option<Registry>,
    report: WhoisReport,
    attributes: Attributes,
    object: Option<OpenObject>,
    /// Attribute of the latest line, which the next line may continue.
    latest: Option<Attribute>,
    handler: &'h mut dyn FnMut(&Object<'_>),
}

/// An object whose end has not been read.
struct OpenObject {
    class: Class,
    first_line: u64,
    first_text: Vec<u8>,
    error: Option<(u64, ObjectError, Vec<u8>)>,
}

impl<'h> Parser<'h> {
    fn new(format: Format, handler: &'h mut dyn FnMut(&Object<'_>)) -> Self {
        let registry = match format {
            Format::ArinText => Some(Registry::Arin),
            Format::Lacnic => Some(Registry::Lacnic),
            _ => None,
        };
        let report = WhoisReport::new(format);
        let attributes = Attributes::default();
        Self { format, registry, report, attributes, object: None, latest: None, handler }
    }

    fn parse_line(&mut self, line: &[u8]) {
        match line.first() {
            None => self.end_object(),
            // Registries put notes even between the lines of an object.
            Some(b'#' | b'%') => {}
            Some(b' ' | b'\t' | b'+') => self.parse_continuation(line),
            Some(_) => self.parse_attribute(line),
        }
    }

    fn parse_continuation(&mut self, line: &[u8]) {
        let value = line.strip_prefix(b"+").unwrap_or(line).trim_ascii();
        // A line of blanks ends an object; a lone plus sign is an empty continuation.
        if value.is_empty() && line[0] != b'+' {
            return self.end_object();
        }
        if self.object.is_none() {
            self.begin_object(line);
        } else if let Some(attribute) = self.latest {
            self.attributes.extend(attribute, value);
        }
        self.check_length(line);
    }

    fn parse_attribute(&mut self, line: &[u8]) {
        let Some(object) = &self.object else { return self.begin_object(line) };
        let class = object.class;
        if class == Class::Other {
            return;
        }
        match split_attribute(line) {
            Some((key, value)) => {
                self.latest = attribute_of(self.format, class, key);
                if let Some(attribute) = self.latest {
                    self.attributes.add(attribute, value);
                }
            }
            None => self.reject_object(ObjectError::NoAttribute, line),
        }
        self.check_length(line);
    }

    fn begin_object(&mut self, line: &[u8]) {
        self.attributes.clear();
        self.latest = None;
        let first_text = line[..line.len().min(MAX_EXCERPT)].to_vec();
        let attribute = split_attribute(line).filter(|_| !line[0].is_ascii_whitespace());
        let class = attribute.map_or(Class::Net, |(key, _)| class_of(self.format, key));
        let first_line = self.report.lines;
        self.object = Some(OpenObject { class, first_line, first_text, error: None });
        let Some((key, value)) = attribute else {
            self.report.objects += 1;
            return self.reject_object(ObjectError::NoAttribute, line);
        };
        self.report.count_object(&decode(key));
        self.latest = match class {
            // ARIN's first line of a net is a handle; the range follows.
            Class::Net if self.format != Format::ArinText => Some(Attribute::Range),
            Class::Organisation => Some(Attribute::Handle),
            _ => None,
        };
        if let Some(attribute) = self.latest {
            self.attributes.add(attribute, value);
        }
    }

    fn check_length(&mut self, line: &[u8]) {
        let Some(object) = &self.object else { return };
        if self.report.lines - object.first_line >= MAX_LINES {
            self.reject_object(ObjectError::TooManyLines, line);
        }
    }

    /// An overlong line makes its object malformed.
    fn reject_line(&mut self, start: &[u8]) {
        if self.object.is_none() {
            self.begin_object(start);
        }
        self.reject_object(ObjectError::LongLine, start);
    }

    /// Marks the object as malformed. Its first error counts; skipped classes may contain anything.
    fn reject_object(&mut self, error: ObjectError, line: &[u8]) {
        let number = self.report.lines;
        let Some(object) = self.object.as_mut().filter(|object| object.class != Class::Other)
        else {
            return;
        };
        let text = &line[..line.len().min(MAX_EXCERPT)];
        object.error.get_or_insert_with(|| (number, error, text.to_vec()));
    }

    /// Whether the text ended within an object: `source:` is the last attribute of all.
    fn is_incomplete(&self) -> bool {
        self.object.as_ref().is_some_and(|object| object.class != Class::Other)
            && self.attributes.value(Attribute::Source).is_none()
    }

    fn end_object(&mut self) {
        self.latest = None;
        let Some(object) = self.object.take() else { return };
        if let Some((line, error, text)) = object.error {
            return self.report.rejects.add(line, error, &text);
        }
        let result =
            self.attributes.handle(object.class, self.registry, &mut self.report, self.handler);
        if let Err(error) = result {
            self.report.rejects.add(object.first_line, error, &object.first_text);
        }
    }
}

/// Key and value of a line.
fn split_attribute(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let colon = line.iter().position(|byte| *byte == b':')?;
    let key = line[..colon].trim_ascii_end();
    (!key.is_empty()).then(|| (key, line[colon + 1..].trim_ascii()))
}

/// The class of an object whose first attribute has this key.
fn class_of(format: Format, key: &[u8]) -> Class {
    match (format, key) {
        (Format::ArinText, b"NetHandle" | b"V6NetHandle") => Class::Net,
        (Format::ArinText, b"OrgID" | b"CustID" | b"CustHandle" | b"CustomerHandle") => {
            Class::Organisation
        }
        (Format::ArinText, _) => Class::Other,
        (_, b"inetnum" | b"inet6num") => Class::Net,
        (_, b"organisation") => Class::Organisation,
        _ => Class::Other,
    }
}

/// The meaning of an attribute; `None` for those that do not matter.
///
/// `sponsoring-org` is the provider that requested a range for its customer, not the holder.
fn attribute_of(format: Format, class: Class, key: &[u8]) -> Option<Attribute> {
    use Attribute as A;
    Some(match (format, class, key) {
        (Format::ArinText, Class::Net, key) => match key {
            b"NetRange" => A::Range,
            b"OrgID" | b"CustID" | b"CustHandle" | b"CustomerHandle" => A::Handle,
            b"CustName" | b"OrgName" => A::Owner,
            b"NetName" => A::Netname,
            b"NetType" => A::Status,
            b"Country" => A::Country,
            b"Updated" => A::Changed,
            b"Source" => A::Source,
            _ => return None,
        },
        (Format::ArinText, _, b"OrgName" | b"CustName") => A::Name,
        (Format::ArinText, _, b"Country") => A::Country,
        (Format::ArinText, _, b"Source") => A::Source,
        (Format::ArinText, ..) => return None,
        (Format::Lacnic, Class::Net, b"owner") => A::Owner,
        (_, _, b"country") => A::Country,
        (_, _, b"source") => A::Source,
        (_, Class::Organisation, b"org-name") => A::Name,
        (_, Class::Net, b"netname") => A::Netname,
        (_, Class::Net, b"descr") => A::Description,
        (Format::Lacnic, Class::Net, b"ownerid") | (_, Class::Net, b"org") => A::Handle,
        (_, Class::Net, b"mnt-by") => A::Maintainer,
        (_, Class::Net, b"status") => A::Status,
        (_, Class::Net, b"changed" | b"last-modified") => A::Changed,
        _ => return None,
    })
}
