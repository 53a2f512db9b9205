//! Header: the first bytes of a snapshot.

use std::io;

use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes};

use super::SnapshotError;

const MAGIC: [u8; 12] = *b"nearcrawl hy";
/// Version of the header and the columns; every change of either raises it.
const FORMAT: u32 = 2;

/// Lengths of the columns. All fields are in the machine's byte order; reading the format with
/// another byte order gives an unknown format.
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
    /// Padding, which must be explicit for a conversion to bytes.
    zero: u32,
    checksum: u32,
}

impl Header {
    /// Magic and format; all lengths are zero.
    pub(super) fn new() -> Self {
        Self { magic: MAGIC, format: FORMAT, ..Self::new_zeroed() }
    }

    pub(super) fn write(mut self, sink: &mut impl io::Write) -> Result<(), SnapshotError> {
        self.checksum = self.computed_checksum();
        sink.write_all(self.as_bytes()).map_err(SnapshotError::Write)
    }

    pub(super) fn read(source: &mut impl io::Read) -> Result<Self, SnapshotError> {
        let mut header = Self::new_zeroed();
        source.read_exact(header.as_mut_bytes()).map_err(SnapshotError::Read)?;
        if header.magic != MAGIC {
            return Err(SnapshotError::NotASnapshot);
        }
        if header.format != FORMAT {
            return Err(SnapshotError::Format { found: header.format, expected: FORMAT });
        }
        if header.checksum != header.computed_checksum() {
            return Err(SnapshotError::Checksum("header"));
        }
        Ok(header)
    }

    /// CRC-32 of the header with a checksum of zero.
    fn computed_checksum(&self) -> u32 {
        let header = Self { checksum: 0, ..*self };
        crc32fast::hash(header.as_bytes())
    }
}
