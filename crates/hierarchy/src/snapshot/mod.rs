//! Snapshot: a hierarchy as the bytes of its columns, so that a start need not build the tree.
//!
//! A snapshot is a header, the flat columns one after the other as the machine has them in memory,
//! and a CRC-32 of the columns. The header has the lengths of the columns and a CRC-32 of its own,
//! so that no memory is allocated for a damaged length. Columns are read directly into their final
//! memory. Lookup tables are not in the snapshot; they are built from the columns.
//!
//! A snapshot is never trusted: after the checksums the columns themselves are verified
//! ([`verify`]). Whatever the bytes are, the result is a valid hierarchy or a [`SnapshotError`].

mod header;
mod read;
mod verify;
mod write;

use std::io;

use crate::tree::Hierarchy;

/// Failure to read or write a snapshot.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// The source failed or ended too early (`UnexpectedEof`).
    #[error("cannot read the snapshot")]
    Read(#[source] io::Error),
    /// The sink failed.
    #[error("cannot write the snapshot")]
    Write(#[source] io::Error),
    /// The first bytes are not those of a snapshot.
    #[error("this is not a snapshot of a hierarchy")]
    NotASnapshot,
    /// Another version of this program wrote it, or a machine with another byte order.
    #[error("the snapshot has format {found}, and this program reads format {expected}")]
    Format {
        /// Format of the snapshot; a very large number in case of another byte order.
        found: u32,
        /// Format of this program.
        expected: u32,
    },
    /// The checksum of the named part does not match its bytes.
    #[error("the snapshot is damaged: the checksum of its {0} does not match")]
    Checksum(&'static str),
    /// The checksums match, but the columns are not those of a hierarchy.
    #[error("the snapshot is inconsistent: {0}")]
    Inconsistent(&'static str),
    /// The memory for a column could not be allocated.
    #[error("there is not enough memory for a snapshot of {bytes} bytes")]
    Memory {
        /// Size of the column that did not fit.
        bytes: u64,
    },
}

/// A hierarchy with a mark of its origin.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// Chosen by the writer, to tell generations with the same number in different databases apart.
    pub mark: u64,
    /// The hierarchy as it was written.
    pub hierarchy: Hierarchy,
}

impl Snapshot {
    /// Reads one snapshot and leaves the bytes after it unread.
    pub fn read(source: &mut impl io::Read) -> Result<Self, SnapshotError> {
        read::read(source)
    }

    /// Writes a snapshot in large pieces, so that a file needs no buffer.
    pub fn write(
        hierarchy: &Hierarchy,
        mark: u64,
        sink: &mut impl io::Write,
    ) -> Result<(), SnapshotError> {
        write::write(hierarchy, mark, sink)
    }
}
