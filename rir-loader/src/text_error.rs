//! Why a text of any format is refused.

use std::io;

/// Why a text of any format is refused. The file is named by [`crate::read::ReadError`].
#[derive(Debug, thiserror::Error)]
pub enum TextError {
    /// Reading failed; also when packed data is damaged or ends early.
    #[error("cannot be read beyond line {line}; if it was downloaded, fetch it again")]
    Read {
        /// Number of the last line that was read.
        line: u64,
        /// Error of the file system or of the decompressor.
        source: io::Error,
    },
    /// A line that no registry writes.
    #[error("line {line} is longer than {limit} bytes; is it a registry's file?")]
    LongLine {
        line: u64,
        /// Longest accepted line in bytes.
        limit: usize,
    },
    /// The text ends in the middle of a line or of an object.
    #[error("ends in the middle of line {line}: it was cut short, fetch it again")]
    CutShort {
        /// Number of the last line.
        line: u64,
    },
    /// The markup of an XML document.
    #[error("is not well-formed XML at byte {at}: {reason}")]
    Xml {
        /// Unpacked bytes before the error.
        at: u64,
        /// Message of the XML parser.
        reason: String,
    },
    /// More objects are malformed than is accepted.
    #[error(
        "{count} of its {of} objects are malformed, more than one in a hundred; first {first}; \
         --force loads the rest"
    )]
    Malformed {
        /// Number of malformed objects.
        count: u64,
        /// Number of objects, malformed ones included.
        of: u64,
        /// Line, error and text of the first one.
        first: String,
    },
    /// A dump of a routing registry, which does not name the holders of addresses.
    #[error(
        "holds the routes of a routing registry, not who holds which addresses; give the inetnum, \
         inet6num and organisation dumps of RIPE, APNIC or AFRINIC, or bulk data of ARIN or LACNIC"
    )]
    Routes,
    /// Header of a delegated file that cannot be parsed.
    #[error("line {line}, {reason}")]
    Header {
        line: u64,
        /// The field, what was found and what was expected.
        reason: String,
    },
    /// A delegated file with a header after its first record.
    #[error("line {line}: a second header, so these are two files in one")]
    SecondHeader { line: u64 },
    /// A delegated file without a header before its first record.
    #[error(
        "line {line}: expected the header `version|registry|serial|records|…` first; is it a \
         registry's delegated-extended file?"
    )]
    NoHeader {
        /// Number of the line that should have been a header.
        line: u64,
    },
    /// A delegated file with fewer records than its header or its summaries announce.
    #[error(
        "ends after line {line} with {found} {of}, but promises {promised}: it was cut short, \
         fetch it again"
    )]
    MissingRecords {
        /// Number of the last line.
        line: u64,
        /// What was counted: all records, or the records of a type.
        of: String,
        /// Records in the file.
        found: u64,
        /// Records that the file announces.
        promised: u64,
    },
    /// A delegated file with more records than its header or its summaries announce.
    #[error("line {line}: more {of} than the {promised} it promises; two files in one?")]
    ExtraRecords {
        /// Number of the first line too many, or of the last line.
        line: u64,
        /// What was counted: all records, or the records of a type.
        of: String,
        /// Records that the file announces.
        promised: u64,
    },
}
