//! A whole file, and whether it is whole.

use std::io::{self, Read};
use std::path::Path;

use super::census::{Census, FileReport, Objection};
use super::error::ReadError;
use super::field::Malformed;
use super::line::{Line, parse_line};
use super::row::Row;
use crate::input::{LineError, Lines, each_text, unpack_stream};
use crate::watch::Watch;

/// Longest line, in bytes. Records have about 100; only comments come near this.
pub(crate) const LONGEST_LINE: usize = 8 * 1024;

/// Whoever takes the records.
type Take<'t> = &'t mut dyn FnMut(&Row<'_>);

/// Reads a file to its end and hands each record to `take`. After an error some records have been
/// handed out.
pub fn read(path: &Path, watch: Watch<'_>, take: Take<'_>) -> Result<FileReport, ReadError> {
    let file = path.display().to_string();
    whole(&file, take, |take_text| each_text(path, watch, take_text))
}

/// [`read`] for bytes from anywhere; `name` stands for the file in errors.
pub fn read_stream(name: &str, stream: impl Read, take: Take<'_>) -> Result<FileReport, ReadError> {
    whole(name, take, |take_text| unpack_stream(stream, take_text))
}

/// An error that does not know its file yet, or does.
enum Trouble {
    Open(io::Error),
    Read(ReadError),
}

impl From<io::Error> for Trouble {
    fn from(source: io::Error) -> Self {
        Self::Open(source)
    }
}

type TakeText<'t> = &'t mut dyn FnMut(Option<&str>, Box<dyn Read + '_>) -> Result<(), Trouble>;

fn whole(
    file: &str,
    take: Take<'_>,
    open: impl FnOnce(TakeText<'_>) -> Result<(), Trouble>,
) -> Result<FileReport, ReadError> {
    let mut report = None;
    let outcome = open(&mut |_, text| {
        let lines = Lines::new(text, LONGEST_LINE);
        report = Some(read_lines(file, lines, false, take).map_err(Trouble::Read)?);
        Ok(())
    });
    match (outcome, report) {
        (Ok(()), Some(report)) => Ok(report),
        (Ok(()), None) => Err(ReadError::NoHeader { file: file.to_owned(), line: 0 }),
        (Err(Trouble::Read(error)), _) => Err(error),
        (Err(Trouble::Open(source)), _) => Err(ReadError::Open { file: file.to_owned(), source }),
    }
}

/// Reads unpacked lines. A few malformed records are counted and passed over; more only when
/// `forced`.
pub(crate) fn read_lines(
    file: &str,
    lines: Lines<'_>,
    forced: bool,
    take: Take<'_>,
) -> Result<FileReport, ReadError> {
    Reading { file: file.to_owned(), lines, first: None }.run(forced, take)
}

struct Reading<'w> {
    file: String,
    lines: Lines<'w>,
    /// The first malformed record and its line.
    first: Option<(u64, Malformed)>,
}

impl Reading<'_> {
    fn run(mut self, forced: bool, take: Take<'_>) -> Result<FileReport, ReadError> {
        let mut census = Census::default();
        loop {
            let number = self.lines.number() + 1;
            let taken = match self.lines.next() {
                Ok(Some(line)) => take_line(line, number, &mut census, &mut self.first, take),
                Ok(None) => break,
                Err(error) => return Err(self.unreadable(error)),
            };
            taken.map_err(|objection| self.object(objection))?;
        }
        let (lines, bytes) = (self.lines.number(), self.lines.bytes());
        let report = census.finish(lines, bytes).map_err(|objection| self.object(objection))?;
        if forced || report.rejects.bearable(report.records()) {
            Ok(report)
        } else {
            Err(self.refuse(&report))
        }
    }

    fn refuse(self, report: &FileReport) -> ReadError {
        let (file, count, of) = (self.file, report.rejects.count, report.records());
        match self.first {
            Some((line, what)) if count == 1 => ReadError::Malformed { file, line, what },
            Some((line, what)) => ReadError::TooManyMalformed { file, count, of, line, what },
            None => ReadError::NoHeader { file, line: report.lines },
        }
    }

    fn unreadable(self, error: LineError) -> ReadError {
        let (file, line) = (self.file, self.lines.number());
        match error {
            LineError::TooLong => ReadError::TooLong { file, line },
            LineError::BrokenOff => ReadError::BrokenOff { file, line },
            LineError::Io(source) => ReadError::Read { file, line, source },
        }
    }

    fn object(&self, objection: Objection) -> ReadError {
        let (file, line) = (self.file.clone(), self.lines.number());
        match objection {
            Objection::Malformed(what) => ReadError::Malformed { file, line, what },
            Objection::NoHeader => ReadError::NoHeader { file, line },
            Objection::TooMany { of, promised } => ReadError::TooMany { file, line, of, promised },
            Objection::CutShort { of, found, promised } => {
                ReadError::CutShort { file, line, of, found, promised }
            }
        }
    }
}

fn take_line(
    line: &[u8],
    number: u64,
    census: &mut Census,
    first: &mut Option<(u64, Malformed)>,
    take: Take<'_>,
) -> Result<(), Objection> {
    let outcome = parse_line(line).map_err(Objection::from).and_then(|read| {
        census.take(&read)?;
        if let Line::Row(row) = read {
            take(&row);
        }
        Ok(())
    });
    match outcome {
        // A header that is malformed or comes again is no record.
        Err(Objection::Malformed(what))
            if census.is_in_records() && !line.first().is_some_and(u8::is_ascii_digit) =>
        {
            first.get_or_insert_with(|| (number, what.clone()));
            census.reject(number, &what, line)
        }
        other => other,
    }
}
