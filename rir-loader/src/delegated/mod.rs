//! Delegated files: what each registry has given out, in the RIR statistics exchange format.
//!
//! One record a line, fields between bars; see "RIR statistics exchange format" (APNIC,
//! README-EXTENDED):
//!
//! ```text
//! 2|ripencc|1539467999|189189|19830705|20181013|+0200
//! ripencc|*|ipv4|*|72789|summary
//! ripencc|FR|ipv4|2.0.0.0|1048576|20100712|allocated|d91963c1-e981
//! ```
//!
//! The header has version, registry, serial number, number of records, first and last day, and UTC
//! offset. A summary has the number of records of a type. A record has registry, country, type,
//! start, value, date, status and the identifier of the holder.
//!
//! The value is a number of addresses for IPv4 (not always a power of two), a prefix length for
//! IPv6, and a number of AS numbers for `asn`. Header and summaries announce how many records
//! follow, which reveals a file that was cut short.

mod fields;
mod header;
mod record;

use std::io::BufRead;

use self::header::Summary;
use crate::input::{Line, Lines};
use crate::rejects::Rejects;
use crate::text_error::TextError;

pub use fields::FieldError;
pub use header::Header;
pub use record::{Extent, Record, Resource, Status};

/// Longest line in bytes. Records have about 100; only comments come near this.
const MAX_LINE: usize = 8 * 1024;

/// Records of one type.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RecordCount {
    /// Allocated or assigned.
    pub held: u64,
    /// Available or reserved.
    pub free: u64,
}

impl RecordCount {
    fn total(self) -> u64 {
        self.held + self.free
    }
}

/// Contents of a delegated file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DelegatedReport {
    /// The first line that is not a comment.
    pub header: Header,
    /// AS numbers, IPv4, IPv6: in the order of [`Resource::ALL`].
    pub counts: [RecordCount; 3],
    /// Records announced by the summaries, in the same order; `None` without a summary.
    announced: [Option<u64>; 3],
    /// Records that could not be parsed.
    pub rejects: Rejects,
}

/// Reads a delegated file and passes each record to `handler`. Some records have been passed when
/// an error is returned. Malformed records are counted; whether there are too many is for the
/// caller to judge ([`Rejects::check`]).
pub fn read(
    input: impl BufRead,
    handler: &mut dyn FnMut(&Record<'_>),
) -> Result<DelegatedReport, TextError> {
    let mut lines = Lines::new(input, MAX_LINE);
    let mut report: Option<DelegatedReport> = None;
    let mut number = 0;
    while let Some(line) = lines.next()? {
        number += 1;
        let text = match line {
            Line::Complete(text) => text,
            // Every record ends with a line end, so a file without the last one is incomplete.
            Line::Unterminated(_) => return Err(TextError::CutShort { line: number }),
            Line::Overlong(_) => return Err(TextError::LongLine { line: number, limit: MAX_LINE }),
        };
        if text.trim_ascii().is_empty() || text.starts_with(b"#") {
            continue;
        }
        // No registry's name begins with a digit, and every version does.
        if text[0].is_ascii_digit() {
            let header = Header::parse(text);
            let header = header
                .map_err(|error| TextError::Header { line: number, reason: error.to_string() })?;
            if report.is_some() {
                return Err(TextError::SecondHeader { line: number });
            }
            report = Some(DelegatedReport::new(header));
            continue;
        }
        match &mut report {
            Some(report) => report.read_line(text, number, handler)?,
            None => return Err(TextError::NoHeader { line: number }),
        }
    }
    report.ok_or(TextError::NoHeader { line: number })?.check_counts(number)
}

impl DelegatedReport {
    fn new(header: Header) -> Self {
        let counts = [RecordCount::default(); 3];
        Self { header, counts, announced: [None; 3], rejects: Rejects::default() }
    }

    /// Records of one type.
    pub fn count_of(&self, resource: Resource) -> RecordCount {
        self.counts[resource as usize]
    }

    /// All records, malformed ones included.
    pub fn records(&self) -> u64 {
        self.counts.iter().map(|count| count.total()).sum::<u64>() + self.rejects.count
    }

    /// Reads a record or a summary.
    fn read_line(
        &mut self,
        text: &[u8],
        line: u64,
        handler: &mut dyn FnMut(&Record<'_>),
    ) -> Result<(), TextError> {
        if header::is_summary(text) {
            match Summary::parse(text) {
                Ok(summary) => self.announced[summary.resource as usize] = Some(summary.count),
                Err(error) => self.rejects.add(line, error, text),
            }
        } else {
            match Record::parse(text) {
                Ok(record) if record.registry != self.header.registry => {
                    let expected = "the registry that the header names";
                    let error = FieldError::new("registry", record.registry.as_str(), expected);
                    self.rejects.add(line, error, text);
                }
                Ok(record) => {
                    self.count(&record);
                    handler(&record);
                }
                Err(error) => self.rejects.add(line, error, text),
            }
        }
        // Checked at every line: two files in one would otherwise be read to their end.
        let promised = self.header.records;
        if self.records() > promised {
            return Err(TextError::ExtraRecords { line, of: "records".to_owned(), promised });
        }
        Ok(())
    }

    fn count(&mut self, record: &Record<'_>) {
        let count = &mut self.counts[record.extent.resource() as usize];
        if record.is_held() {
            count.held += 1;
        } else {
            count.free += 1;
        }
    }

    /// Compares the counts with those that the header and the summaries announce.
    fn check_counts(self, line: u64) -> Result<Self, TextError> {
        compare("records".to_owned(), self.records(), self.header.records, line)?;
        for resource in Resource::ALL {
            let Some(promised) = self.announced[resource as usize] else { continue };
            let found = self.count_of(resource).total();
            // The type of a malformed record is unknown: it may be one of those missing here.
            let missing = promised.saturating_sub(found).min(self.rejects.count);
            let of = format!("records of type {}", resource.as_str());
            compare(of, found + missing, promised, line)?;
        }
        Ok(self)
    }
}

fn compare(of: String, found: u64, promised: u64, line: u64) -> Result<(), TextError> {
    match found.cmp(&promised) {
        std::cmp::Ordering::Less => Err(TextError::MissingRecords { line, of, found, promised }),
        std::cmp::Ordering::Equal => Ok(()),
        std::cmp::Ordering::Greater => Err(TextError::ExtraRecords { line, of, promised }),
    }
}
