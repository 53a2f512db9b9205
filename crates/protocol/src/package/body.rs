//! Body of a package: its entries, in bounded memory.

use std::{
    collections::VecDeque,
    io::{BufRead as _, BufReader, ErrorKind, Read, Take},
};

use super::{PackageError, block};
use crate::{limits, page::Entry};

/// What the body inflates to: one byte more than promised, so that reaching the end of it shows a
/// longer body.
type InflatedBody<'a> = BufReader<Take<zstd::Decoder<'a, &'a [u8]>>>;

/// Reads the entries of a body, a block after another.
pub(super) struct Body<'a> {
    blocks: InflatedBody<'a>,
    /// Entries of the last block that are not taken yet.
    decoded: VecDeque<Entry>,
    /// Number of the last block.
    number: u32,
    /// Memory that further entries may take, in bytes.
    budget: u64,
}

impl<'a> Body<'a> {
    pub(super) fn new(inflated: zstd::Decoder<'a, &'a [u8]>, plain_bytes: u64) -> Self {
        let blocks = BufReader::new(inflated.take(plain_bytes + 1));
        let budget = limits::PACKAGE_PLAIN_BYTES;
        Self { blocks, decoded: VecDeque::new(), number: 0, budget }
    }

    /// The next entry; none at the end.
    pub(super) fn take(&mut self) -> Result<Option<Entry>, PackageError> {
        while self.decoded.is_empty() {
            let Some(bytes) = next_block(&mut self.blocks)? else { return Ok(None) };
            self.number += 1;
            let number = self.number;
            let entries = block::decode(&bytes, &mut self.budget);
            self.decoded.extend(entries.map_err(|source| PackageError::Block { number, source })?);
        }
        Ok(self.decoded.pop_front())
    }
}

fn next_block(blocks: &mut InflatedBody<'_>) -> Result<Option<Vec<u8>>, PackageError> {
    if blocks.fill_buf().map_err(PackageError::Inflate)?.is_empty() {
        return Ok(None);
    }
    let mut length = [0; 4];
    read_all(blocks, &mut length)?;
    let length = u32::from_be_bytes(length) as usize;
    if length > limits::BLOCK_BYTES {
        return Err(PackageError::BlockTooLarge(length));
    }
    let mut bytes = vec![0; length];
    read_all(blocks, &mut bytes)?;
    check_end(blocks)?;
    Ok(Some(bytes))
}

fn read_all(blocks: &mut InflatedBody<'_>, bytes: &mut [u8]) -> Result<(), PackageError> {
    blocks.read_exact(bytes).map_err(|error| match error.kind() {
        ErrorKind::UnexpectedEof if blocks.get_ref().limit() > 0 => PackageError::Truncated,
        ErrorKind::UnexpectedEof => PackageError::LongerThanPromised,
        _ => PackageError::Inflate(error),
    })
}

/// Fails when the body is longer than its header says.
fn check_end(inflated: &InflatedBody<'_>) -> Result<(), PackageError> {
    if inflated.get_ref().limit() == 0 { Err(PackageError::LongerThanPromised) } else { Ok(()) }
}
