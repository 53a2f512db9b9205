//! Why a text was given up, before it is known which file it is in.

use std::io;

use crate::input::LineError;
use crate::rejects::Example;

/// Why a text was given up.
#[derive(Debug, thiserror::Error)]
pub enum TextError {
    /// Reading stopped; also when packed data are damaged or end early.
    #[error("cannot be read beyond line {line}; if it was downloaded, fetch it again")]
    Read {
        /// The last line that was read.
        line: u64,
        /// Why.
        source: io::Error,
    },
    /// A line without an end.
    #[error("line {line} does not end within 64 MiB; is it a registry's file?")]
    Endless {
        /// The line.
        line: u64,
    },
    /// It ends in the middle of an object.
    #[error("ends in the middle of an object, in line {line}: it was cut short, fetch it again")]
    CutShort {
        /// The last line.
        line: u64,
    },
    /// No markup that can be followed.
    #[error("is not well-formed XML at byte {at}: {why}")]
    Markup {
        /// Where.
        at: u64,
        /// What the parser says.
        why: String,
    },
    /// Too much of it is malformed.
    #[error(
        "{count} of its {of} objects are malformed, more than one in a hundred; first {first}; --force loads the rest"
    )]
    Malformed {
        /// How many.
        count: u64,
        /// Of how many.
        of: u64,
        /// The first.
        first: Example,
    },
    /// Routes instead of holders.
    #[error(
        "holds the routes of a routing registry, not who holds which addresses; give the inetnum, inet6num and \
         organisation dumps of RIPE, APNIC or AFRINIC, or bulk data of ARIN or LACNIC"
    )]
    Routes,
}

impl TextError {
    pub(crate) fn of(error: LineError, line: u64) -> Self {
        match error {
            LineError::Io(source) => Self::Read { line, source },
            LineError::TooLong => Self::Endless { line },
            LineError::BrokenOff => Self::CutShort { line },
        }
    }
}
