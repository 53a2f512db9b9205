//! One line.

use super::field::{Field, Fields, Malformed};
use super::header::{Header, Summary, registry};
use super::row::Row;

/// What a line says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line<'a> {
    /// Nothing: a comment or an empty line.
    Nothing,
    /// The promises about the whole file.
    Header(Header),
    /// A promise about the records of one type.
    Summary(Summary),
    /// A record.
    Row(Row<'a>),
}

/// Reads one line without its end. Any bytes are read or refused.
pub fn parse_line(line: &[u8]) -> Result<Line<'_>, Malformed> {
    if line.trim_ascii().is_empty() || line.starts_with(b"#") {
        return Ok(Line::Nothing);
    }
    let text =
        str::from_utf8(line).map_err(|_| Malformed::new(Field::Line, line, "text in ASCII"))?;
    // No registry's name begins with a digit, and every version does.
    if text.starts_with(|letter: char| letter.is_ascii_digit()) {
        return Header::parse(text).map(Line::Header);
    }
    let mut fields = Fields::of(text);
    let publisher = fields.next(Field::Registry)?;
    registry(publisher)?;
    match fields.next(Field::Country)? {
        "*" => Summary::parse(&mut fields).map(Line::Summary),
        country => Row::parse(publisher, country, &mut fields).map(Line::Row),
    }
}
