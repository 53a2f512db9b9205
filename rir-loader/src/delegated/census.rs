//! Counts against promises: whether a file has what its header and its summaries say.

use super::field::{Field, Malformed};
use super::header::{Header, Summary};
use super::line::Line;
use super::row::{Resource, Row};
use crate::rejects::Rejects;

/// How many records of one type.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Of them somebody holds.
    pub held: u64,
    /// Free or kept back.
    pub others: u64,
}

impl Tally {
    /// Records of the type, whoever holds them.
    pub fn records(&self) -> u64 {
        self.held + self.others
    }
}

/// What a file turned out to hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileReport {
    /// Its first line.
    pub header: Header,
    /// Lines, comments and all.
    pub lines: u64,
    /// Unpacked bytes.
    pub bytes: u64,
    /// AS numbers, IPv4, IPv6: in the order of [`Resource::ALL`].
    pub tallies: [Tally; 3],
    /// Records that could not be read.
    pub rejects: Rejects,
}

impl FileReport {
    /// The records of one type.
    pub fn of(&self, resource: Resource) -> Tally {
        self.tallies[resource as usize]
    }

    /// All records, malformed ones included.
    pub fn records(&self) -> u64 {
        total(&self.tallies) + self.rejects.count
    }
}

/// What is wrong, before it is known where.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Objection {
    Malformed(Malformed),
    NoHeader,
    TooMany { of: String, promised: u64 },
    CutShort { of: String, found: u64, promised: u64 },
}

impl From<Malformed> for Objection {
    fn from(what: Malformed) -> Self {
        Self::Malformed(what)
    }
}

#[derive(Debug, Default)]
pub(super) struct Census {
    header: Option<Header>,
    tallies: [Tally; 3],
    promised: [Option<u64>; 3],
    rejects: Rejects,
}

impl Census {
    /// Whether what comes now is records, of which a few may be malformed.
    pub(super) fn is_in_records(&self) -> bool {
        self.header.is_some()
    }

    /// Takes note of a malformed record, which is a record all the same.
    pub(super) fn reject(
        &mut self,
        line: u64,
        what: &Malformed,
        text: &[u8],
    ) -> Result<(), Objection> {
        self.rejects.add(line, what, text);
        self.refuse_too_many()
    }

    /// Takes note of a line; an error when it breaks a promise.
    pub(super) fn take(&mut self, line: &Line<'_>) -> Result<(), Objection> {
        match line {
            Line::Nothing => Ok(()),
            Line::Header(header) => self.begin(header),
            Line::Summary(summary) => self.promise(*summary),
            Line::Row(row) => self.count(row),
        }
    }

    fn begin(&mut self, header: &Header) -> Result<(), Objection> {
        if self.header.is_some() {
            let expected = "a record: the header was there already, so these are two files in one";
            return Err(
                Malformed::new(Field::Line, header.registry.as_str().as_bytes(), expected).into()
            );
        }
        self.header = Some(header.clone());
        Ok(())
    }

    fn promise(&mut self, summary: Summary) -> Result<(), Objection> {
        self.header.as_ref().ok_or(Objection::NoHeader)?;
        self.promised[summary.resource as usize] = Some(summary.count);
        Ok(())
    }

    fn count(&mut self, row: &Row<'_>) -> Result<(), Objection> {
        let header = self.header.as_ref().ok_or(Objection::NoHeader)?;
        if row.registry != header.registry {
            let expected = "the registry that the header names";
            return Err(Malformed::new(
                Field::Registry,
                row.registry.as_str().as_bytes(),
                expected,
            )
            .into());
        }
        let tally = &mut self.tallies[row.resource as usize];
        if row.is_held() {
            tally.held += 1;
        } else {
            tally.others += 1;
        }
        self.refuse_too_many()
    }

    fn refuse_too_many(&self) -> Result<(), Objection> {
        let promised = self.header.as_ref().map_or(0, |header| header.records);
        let too_many = total(&self.tallies) + self.rejects.count > promised;
        if too_many {
            Err(Objection::TooMany { of: "records".to_owned(), promised })
        } else {
            Ok(())
        }
    }

    /// The file has ended.
    pub(super) fn finish(self, lines: u64, bytes: u64) -> Result<FileReport, Objection> {
        let header = self.header.ok_or(Objection::NoHeader)?;
        let rejected = self.rejects.count;
        compare("records".to_owned(), total(&self.tallies) + rejected, Some(header.records))?;
        for ((resource, tally), promised) in
            Resource::ALL.into_iter().zip(&self.tallies).zip(self.promised)
        {
            // Of what type a malformed record is nobody knows: it may be one of those that seem to
            // be missing.
            let missing = promised.unwrap_or(0).saturating_sub(tally.records());
            let found = tally.records() + missing.min(rejected);
            compare(format!("records of type {}", resource.as_str()), found, promised)?;
        }
        Ok(FileReport { header, lines, bytes, tallies: self.tallies, rejects: self.rejects })
    }
}

fn total(tallies: &[Tally; 3]) -> u64 {
    tallies.iter().map(Tally::records).sum()
}

/// Summaries may be missing; what they say must be true.
fn compare(of: String, found: u64, promised: Option<u64>) -> Result<(), Objection> {
    match promised {
        Some(promised) if found < promised => Err(Objection::CutShort { of, found, promised }),
        Some(promised) if found > promised => Err(Objection::TooMany { of, promised }),
        _ => Ok(()),
    }
}
