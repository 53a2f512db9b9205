//! Routing layer: optional lines of comma-separated values that say which autonomous system
//! announces which addresses.
//!
//! ```text
//! range,asn,name                             or  first,last,asn,name; the header may be left out
//! 192.0.2.0/24,64496,Example Widgets
//! 192.0.2.0,192.0.2.255,64496,"Example, Inc."
//! ```
//!
//! Collectors of BGP tables publish such lists. In some places they are finer than what the
//! registries record, and they name holders that delegated files only number.

use std::io::BufRead;

use hierarchy::Range;

use crate::input::{Line, Lines};
use crate::rejects::Rejects;
use crate::text_error::TextError;
use crate::whois::address::{parse_address, parse_ends, parse_range};

/// Longest line in bytes.
const MAX_LINE: usize = 16 * 1024;

/// One line of the layer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// The announced addresses.
    pub range: Range,
    /// Number of the autonomous system that announces them.
    pub asn: u32,
    /// Name of the autonomous system.
    pub name: Option<String>,
}

/// Contents of a routing layer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RoutingReport {
    /// Routes, malformed ones included.
    pub routes: u64,
    /// Malformed lines that were skipped.
    pub rejects: Rejects,
}

/// Whether a text that begins with this line is a routing layer.
pub(crate) fn is_first_line(line: &[u8]) -> bool {
    let Some(fields) = split_fields(line).filter(|fields| fields.len() >= 3) else { return false };
    is_header(&fields) || parse(&fields).is_ok()
}

/// Reads a routing layer and passes each route to `handler`. Malformed lines are counted.
pub fn read(
    input: impl BufRead,
    handler: &mut dyn FnMut(&Route),
) -> Result<RoutingReport, TextError> {
    let mut lines = Lines::new(input, MAX_LINE);
    let mut report = RoutingReport::default();
    let mut number = 0;
    while let Some(line) = lines.next()? {
        number += 1;
        match line {
            Line::Complete(text) | Line::Unterminated(text) => {
                read_line(text, number, &mut report, handler);
            }
            Line::Overlong(start) => {
                report.routes += 1;
                report.rejects.add(number, "longer than 16,384 bytes", start);
            }
        }
    }
    Ok(report)
}

fn read_line(
    line: &[u8],
    number: u64,
    report: &mut RoutingReport,
    handler: &mut dyn FnMut(&Route),
) {
    if line.trim_ascii().is_empty() || line.starts_with(b"#") {
        return;
    }
    let route = match split_fields(line) {
        Some(fields) if report.routes == 0 && is_header(&fields) => return,
        Some(fields) => parse(&fields),
        None => Err("no comma-separated values"),
    };
    report.routes += 1;
    match route {
        Ok(route) => handler(&route),
        Err(reason) => report.rejects.add(number, reason, line),
    }
}

/// The fields of one line without their quotes.
fn split_fields(line: &[u8]) -> Option<Vec<String>> {
    let mut builder = csv::ReaderBuilder::new();
    let mut reader =
        builder.has_headers(false).flexible(true).buffer_capacity(1024).from_reader(line);
    let mut record = csv::ByteRecord::new();
    let read = reader.read_byte_record(&mut record).ok()?;
    let text = |field: &[u8]| crate::whois::decode(field.trim_ascii()).into_owned();
    read.then(|| record.iter().map(text).collect())
}

fn is_header(fields: &[String]) -> bool {
    let is_asn = |field: &String| ["asn", "as_number"].contains(&&*field.to_ascii_lowercase());
    fields.iter().any(is_asn)
}

fn parse(fields: &[String]) -> Result<Route, &'static str> {
    let (range, rest) = match fields {
        [first, last, rest @ ..]
            if parse_address(first).is_some() && parse_address(last).is_some() =>
        {
            (parse_ends(first, last), rest)
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

    fn routes(text: &str) -> (Vec<Route>, RoutingReport) {
        let mut routes = vec![];
        let report = read(text.as_bytes(), &mut |route| routes.push(route.clone())).unwrap();
        (routes, report)
    }

    #[test]
    fn both_forms_are_read_with_and_without_a_header() {
        for text in [
            "range,asn,name\n192.0.2.0/24,64496,\"Example, Inc.\"\n",
            "192.0.2.0,192.0.2.255,AS64496,\"Example, Inc.\"",
        ] {
            let (routes, report) = routes(text);
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
        let (routes, report) = routes("192.0.2.0/24,x,\nnonsense\n2001:db8::/32,64497,\n");
        assert_eq!((routes.len(), report.routes, report.rejects.count), (1, 3, 2));
        assert_eq!(report.rejects.examples[0].line, 1);
        assert_eq!(routes[0].name, None);
    }
}
