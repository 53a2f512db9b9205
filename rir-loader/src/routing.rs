//! An optional layer of routes: who announces which addresses, as lines of comma-separated values.
//!
//! ```text
//! range,asn,name                             or  first,last,asn,name; the heading may be left out
//! 192.0.2.0/24,64496,Example Widgets
//! 192.0.2.0,192.0.2.255,64496,"Example, Inc."
//! ```
//!
//! Collectors of BGP tables publish such lists. They are finer than what the registries record in
//! some places, and they give names to holders of whom the open registry files say only a number.

use hierarchy::Range;

use crate::input::{LineError, Lines};
use crate::rejects::Rejects;
use crate::text_error::TextError;
use crate::whois::address::{address, parse_range};

/// Bytes of the longest line.
pub(crate) const LONGEST_LINE: usize = 16 * 1024;

/// One line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// The addresses.
    pub range: Range,
    /// The number of the autonomous system that announces them.
    pub asn: u32,
    /// What people call it.
    pub name: Option<String>,
}

/// What a layer turned out to hold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RoutingReport {
    /// Lines.
    pub lines: u64,
    /// Unpacked bytes.
    pub bytes: u64,
    /// Routes, malformed ones included.
    pub routes: u64,
    /// What could not be read.
    pub rejects: Rejects,
}

/// Whether a text that begins with this line is such a layer.
pub(crate) fn is_first_line(line: &[u8]) -> bool {
    let Some(fields) = fields(line).filter(|fields| fields.len() >= 3) else { return false };
    is_heading(&fields) || parse(&fields).is_ok()
}

/// Reads a whole text from a stream of unpacked bytes; a heading is passed over.
pub fn read_text(
    stream: impl std::io::Read,
    take: &mut dyn FnMut(&Route),
) -> Result<RoutingReport, TextError> {
    read_lines(Lines::new(Box::new(stream), LONGEST_LINE), take)
}

pub(crate) fn read_lines(
    mut lines: Lines<'_>,
    take: &mut dyn FnMut(&Route),
) -> Result<RoutingReport, TextError> {
    let mut report = RoutingReport::default();
    loop {
        let number = lines.number() + 1;
        match lines.next() {
            Ok(Some(line)) => one(line, number, &mut report, take),
            Ok(None) => break,
            Err(LineError::TooLong) => {
                let text = lines.skip().map_err(|error| TextError::of(error, number))?;
                report.routes += 1;
                report.rejects.add(number, "longer than 16,384 bytes", &text);
            }
            Err(LineError::BrokenOff) => {
                one(&lines.remainder(), number, &mut report, take);
                break;
            }
            Err(error @ LineError::Io(_)) => return Err(TextError::of(error, lines.number())),
        }
    }
    report.lines = lines.number();
    report.bytes = lines.bytes();
    Ok(report)
}

fn one(line: &[u8], number: u64, report: &mut RoutingReport, take: &mut dyn FnMut(&Route)) {
    if line.trim_ascii().is_empty() || line.starts_with(b"#") {
        return;
    }
    let read = match fields(line) {
        Some(fields) if report.routes == 0 && is_heading(&fields) => return,
        Some(fields) => parse(&fields),
        None => Err("no comma-separated values"),
    };
    report.routes += 1;
    match read {
        Ok(route) => take(&route),
        Err(why) => report.rejects.add(number, why, line),
    }
}

/// The fields of one line, quotes taken off.
fn fields(line: &[u8]) -> Option<Vec<String>> {
    let mut builder = csv::ReaderBuilder::new();
    let mut reader =
        builder.has_headers(false).flexible(true).buffer_capacity(1024).from_reader(line);
    let mut record = csv::ByteRecord::new();
    let read = reader.read_byte_record(&mut record).ok()?;
    let text = |field: &[u8]| crate::whois::decode::decode(field.trim_ascii()).0.into_owned();
    read.then(|| record.iter().map(text).collect())
}

fn is_heading(fields: &[String]) -> bool {
    fields
        .iter()
        .any(|field| ["asn", "as_number"].iter().any(|name| field.eq_ignore_ascii_case(name)))
}

fn parse(fields: &[String]) -> Result<Route, &'static str> {
    let (range, rest) = match fields {
        [first, last, rest @ ..] if address(first).is_some() && address(last).is_some() => {
            (parse_range(&format!("{first} - {last}")), rest)
        }
        [range, rest @ ..] => (parse_range(range), rest),
        [] => return Err("an empty line"),
    };
    let range = range
        .map_err(|_| "the first field is no prefix (a/n) and the first two are no range (a,b)")?;
    let [asn, names @ ..] = rest else { return Err("no AS number") };
    let digits = asn.strip_prefix("AS").unwrap_or(asn);
    let asn = digits.parse().map_err(|_| "the field after the range is no AS number")?;
    let name = names.first().filter(|name| !name.is_empty()).cloned();
    Ok(Route { range, asn, name })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &'static str) -> (Vec<Route>, RoutingReport) {
        let mut routes = vec![];
        let lines = Lines::new(Box::new(text.as_bytes()), LONGEST_LINE);
        let report = read_lines(lines, &mut |route| routes.push(route.clone())).unwrap();
        (routes, report)
    }

    #[test]
    fn both_forms_are_read_with_and_without_a_heading() {
        for text in [
            "range,asn,name\n192.0.2.0/24,64496,\"Example, Inc.\"\n",
            "192.0.2.0,192.0.2.255,AS64496,\"Example, Inc.\"",
        ] {
            let (routes, report) = read(text);
            assert_eq!((routes.len(), report.routes, report.rejects.count), (1, 1, 0), "{text}");
            assert_eq!(
                (routes[0].range.to_string(), routes[0].asn),
                ("192.0.2.0/24".to_owned(), 64496)
            );
            assert_eq!(routes[0].name.as_deref(), Some("Example, Inc."));
            assert!(is_first_line(text.lines().next().unwrap().as_bytes()));
        }
        assert!(!is_first_line(b"a,b,c") && !is_first_line(b"192.0.2.0/24"));
    }

    #[test]
    fn a_bad_line_is_counted_and_the_rest_is_read() {
        let (routes, report) = read("192.0.2.0/24,x,\nnonsense\n2001:db8::/32,64497,\n");
        assert_eq!((routes.len(), report.routes, report.rejects.count), (1, 3, 2));
        assert_eq!(report.rejects.examples[0].line, 1);
        assert_eq!(routes[0].name, None);
    }
}
