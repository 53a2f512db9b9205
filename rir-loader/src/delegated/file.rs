//! A whole file, and whether it is whole.

use std::io::Read;
use std::path::Path;

use super::census::{Census, FileReport, Objection};
use super::error::ReadError;
use super::line::{Line, parse_line};
use super::row::Row;
use crate::input::{LineError, Lines};
use crate::watch::Watch;

/// Reads a file to its end and hands each record to `take`. After an error some records have been handed out.
pub fn read(path: &Path, watch: Watch<'_>, take: &mut dyn FnMut(&Row<'_>)) -> Result<FileReport, ReadError> {
    let file = path.display().to_string();
    match Lines::open(path, watch) {
        Ok(lines) => Reading { file, lines }.run(take),
        Err(source) => Err(ReadError::Open { file, source }),
    }
}

/// [`read`] for bytes from anywhere; `name` stands for the file in errors.
pub fn read_stream(
    name: &str,
    stream: impl Read,
    take: &mut dyn FnMut(&Row<'_>),
) -> Result<FileReport, ReadError> {
    let file = name.to_owned();
    match Lines::new(stream) {
        Ok(lines) => Reading { file, lines }.run(take),
        Err(source) => Err(ReadError::Open { file, source }),
    }
}

struct Reading<'w> {
    file: String,
    lines: Lines<'w>,
}

impl Reading<'_> {
    fn run(mut self, take: &mut dyn FnMut(&Row<'_>)) -> Result<FileReport, ReadError> {
        let mut census = Census::default();
        loop {
            let taken = match self.lines.next() {
                Ok(Some(line)) => take_line(line, &mut census, take),
                Ok(None) => break,
                Err(error) => return Err(self.unreadable(error)),
            };
            taken.map_err(|objection| self.object(objection))?;
        }
        let lines = self.lines.number();
        census.finish(lines).map_err(|objection| self.object(objection))
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

fn take_line(line: &[u8], census: &mut Census, take: &mut dyn FnMut(&Row<'_>)) -> Result<(), Objection> {
    let line = parse_line(line)?;
    census.take(&line)?;
    if let Line::Row(row) = line {
        take(&row);
    }
    Ok(())
}
