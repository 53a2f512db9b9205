//! The mark of a segment: how many bytes of its records are synced.
//!
//! It lies behind the first bytes of the segment: the number, as a little-endian 64-bit integer,
//! and its CRC-32. It is overwritten in place after each sync.

use std::{fs::File, os::unix::fs::FileExt as _};

use super::MAGIC;

/// Bytes of the number.
const NUMBER: usize = size_of::<u64>();
/// Bytes of a mark.
pub(super) const LENGTH: usize = NUMBER + size_of::<u32>();

/// The mark that these bytes of records are synced.
pub(super) fn encode(synced: u64) -> [u8; LENGTH] {
    let mut mark = [0; LENGTH];
    let number = synced.to_le_bytes();
    mark[..NUMBER].copy_from_slice(&number);
    mark[NUMBER..].copy_from_slice(&crc32fast::hash(&number).to_le_bytes());
    mark
}

/// The bytes that are synced. A mark that cannot be read says nothing: a power failure may cut the
/// mark, too.
pub(super) fn decode(mark: [u8; LENGTH]) -> u64 {
    let mut number = [0; NUMBER];
    number.copy_from_slice(&mark[..NUMBER]);
    let synced = u64::from_le_bytes(number);
    if encode(synced) == mark { synced } else { 0 }
}

/// Overwrites the mark of a segment.
pub(super) fn write(segment: &File, synced: u64) -> std::io::Result<()> {
    segment.write_all_at(&encode(synced), MAGIC.len() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_read_as_it_was_written() {
        for synced in [0, 1, 16 << 20, u64::MAX] {
            assert_eq!(decode(encode(synced)), synced);
        }
    }

    #[test]
    fn a_damaged_mark_says_nothing() {
        for at in 0..LENGTH {
            let mut mark = encode(5_000);
            mark[at] ^= 1;
            assert_eq!(decode(mark), 0);
        }
        assert_eq!(decode([0; LENGTH]), 0);
    }
}
