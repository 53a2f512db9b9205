//! The first bytes of a snapshot.

use std::io;

use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes};

use super::SnapshotError;

const MAGIC: [u8; 12] = *b"nearcrawl hy";
/// To be raised with every change of what follows.
const FORMAT: u32 = 1;

/// Counts of what follows. All fields in the machine's byte order, which the format's number shows.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable)]
#[repr(C)]
pub(super) struct Header {
    magic: [u8; 12],
    format: u32,
    pub(super) generation: i64,
    pub(super) mark: u64,
    pub(super) v4: u64,
    pub(super) v4_irregular: u64,
    pub(super) v6: u64,
    pub(super) v6_irregular: u64,
    pub(super) companies: u64,
    pub(super) handle_bytes: u64,
    pub(super) name_bytes: u64,
    zero: u32,
    sum: u32,
}

impl Header {
    /// Everything zero but what every snapshot begins with.
    pub(super) fn new() -> Self {
        Self { magic: MAGIC, format: FORMAT, ..Self::new_zeroed() }
    }

    pub(super) fn write(mut self, sink: &mut impl io::Write) -> Result<(), SnapshotError> {
        self.sum = self.computed();
        sink.write_all(self.as_bytes()).map_err(SnapshotError::Write)
    }

    pub(super) fn read(source: &mut impl io::Read) -> Result<Self, SnapshotError> {
        let mut header = Self::new_zeroed();
        source.read_exact(header.as_mut_bytes()).map_err(SnapshotError::Read)?;
        if header.magic != MAGIC {
            return Err(SnapshotError::Foreign);
        }
        if header.format != FORMAT {
            return Err(SnapshotError::Format { found: header.format, expected: FORMAT });
        }
        if header.sum != header.computed() {
            return Err(SnapshotError::Checksum("header"));
        }
        Ok(header)
    }

    fn computed(&self) -> u32 {
        let summed = Self { sum: 0, ..*self };
        crc32fast::hash(summed.as_bytes())
    }
}
