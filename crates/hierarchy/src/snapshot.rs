//! A hierarchy as the bytes it consists of, so that it is there again in a moment.
//!
//! A snapshot is a header, the flat columns one after the other as the machine has them in memory,
//! and a CRC-32 of the columns. The header counts what follows and has a CRC-32 of its own, so that
//! nothing is set aside for a length that is damaged. Columns are read straight into their places.
//! The lookup tables are not in it: they are built again from the columns.
//!
//! A snapshot is never trusted: after the sums the columns themselves are checked ([`verify`]), so
//! that whatever the bytes are, the answer is a hierarchy that keeps all its promises or a
//! [`SnapshotError`].

mod header;
mod read;
mod verify;
mod write;

use std::io;

use crate::tree::Hierarchy;

/// Why a snapshot cannot be used, or not be written.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// It could not be read, or ends too early (`UnexpectedEof`).
    #[error("cannot read the snapshot")]
    Read(#[source] io::Error),
    /// It could not be written.
    #[error("cannot write the snapshot")]
    Write(#[source] io::Error),
    /// It does not begin as a snapshot does.
    #[error("this is not a snapshot of a hierarchy")]
    Foreign,
    /// It was written by a version of this program, or on a kind of machine, that puts it
    /// differently.
    #[error("the snapshot has format {found}, and this program reads format {expected}")]
    Format {
        /// The number found; that of another byte order looks like a very large one.
        found: u32,
        /// The number that this program knows.
        expected: u32,
    },
    /// A checksum does not match what it is about.
    #[error("the snapshot is damaged: the checksum of its {0} does not match")]
    Checksum(&'static str),
    /// The checksums match, and yet something in it cannot be.
    #[error("the snapshot contradicts itself: {0}")]
    Contradiction(&'static str),
    /// There is not enough memory for it.
    #[error("there is not enough memory for a snapshot of {bytes} bytes")]
    Memory {
        /// Size of the column that did not fit.
        bytes: u64,
    },
}

/// A hierarchy and a mark that says what it was made from.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// What the writer chose to tell this generation from one of the same number elsewhere.
    pub mark: u64,
    /// The hierarchy.
    pub hierarchy: Hierarchy,
}

impl Snapshot {
    /// Reads a snapshot. What follows it is left unread.
    pub fn read(source: &mut impl io::Read) -> Result<Self, SnapshotError> {
        read::read(source)
    }

    /// Writes a hierarchy down. The sink gets large pieces; a file needs no buffer.
    pub fn write(
        hierarchy: &Hierarchy,
        mark: u64,
        sink: &mut impl io::Write,
    ) -> Result<(), SnapshotError> {
        write::write(hierarchy, mark, sink)
    }
}
