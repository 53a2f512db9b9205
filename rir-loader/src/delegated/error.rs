//! Why a file was refused.

use std::io;

use super::field::Malformed;
use super::file::LONGEST_LINE;

/// Why a file was refused. Every sentence names the file and, where there is one, the line.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It is not there or may not be read.
    #[error("cannot open {file}")]
    Open {
        /// The file.
        file: String,
        /// Why.
        source: io::Error,
    },
    /// Reading stopped in the middle; also when compressed data are damaged or end early.
    #[error("cannot read {file} beyond line {line}; if it was downloaded, fetch it again")]
    Read {
        /// The file.
        file: String,
        /// The last line that was read.
        line: u64,
        /// Why.
        source: io::Error,
    },
    /// A line that no registry writes.
    #[error(
        "{file}, line {line}: longer than {LONGEST_LINE} bytes; is it a registry's delegated-extended file?"
    )]
    TooLong {
        /// The file.
        file: String,
        /// The line.
        line: u64,
    },
    /// The last line has no end.
    #[error("{file} ends in the middle of line {line}: it was cut short, fetch it again")]
    BrokenOff {
        /// The file.
        file: String,
        /// The line.
        line: u64,
    },
    /// A field that is not what the format says.
    #[error("{file}, line {line}, {what}")]
    Malformed {
        /// The file.
        file: String,
        /// The line.
        line: u64,
        /// Field, what was found and what was expected.
        what: Malformed,
    },
    /// Too many lines with a field that is not what the format says.
    #[error(
        "{file}: {count} of its {of} records are malformed, more than one in a hundred; first line {line}, {what}; \
         --force loads the rest"
    )]
    TooManyMalformed {
        /// The file.
        file: String,
        /// How many.
        count: u64,
        /// Of how many.
        of: u64,
        /// Where the first is.
        line: u64,
        /// What is wrong with it.
        what: Malformed,
    },
    /// No header before the first record, or at all.
    #[error(
        "{file}, line {line}: expected the header `version|registry|serial|records|…` first; is it a registry's \
         delegated-extended file?"
    )]
    NoHeader {
        /// The file.
        file: String,
        /// Where the header was missed.
        line: u64,
    },
    /// Fewer records than promised.
    #[error(
        "{file} ends after line {line} with {found} {of}, but promises {promised}: it was cut short, fetch it again"
    )]
    CutShort {
        /// The file.
        file: String,
        /// Its last line.
        line: u64,
        /// What was counted: records, or records of a type.
        of: String,
        /// How many there are.
        found: u64,
        /// How many the header or the summary promises.
        promised: u64,
    },
    /// More records than promised.
    #[error("{file}, line {line}: more {of} than the {promised} it promises; two files in one?")]
    TooMany {
        /// The file.
        file: String,
        /// Where the first one too many is, or the last line.
        line: u64,
        /// What was counted.
        of: String,
        /// How many the header or the summary promises.
        promised: u64,
    },
}
