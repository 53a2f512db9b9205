//! Body of a package: its entries, in bounded memory.

use std::{
    collections::VecDeque,
    io::{BufRead as _, BufReader, ErrorKind, Read, Take},
};

use super::{EntryRef, PackageError, block};
use crate::{
    limits,
    page::{Entry, Outcome},
};

/// What the body inflates to: one byte more than promised, so that reaching the end of it shows a
/// longer body.
type InflatedBody<'a> = BufReader<Take<Box<dyn Read + 'a>>>;

/// Reads the entries of a body, whose form depends on the version of the package.
pub(super) enum Body<'a> {
    /// Version 1: a line of JSON for each entry. Agents of protocol 3 and older send it.
    Lines { lines: InflatedBody<'a>, line: Vec<u8>, number: u32, budget: u64 },
    /// Version 2: blocks.
    Blocks { blocks: InflatedBody<'a>, decoded: VecDeque<Entry>, number: u32, budget: u64 },
}

impl<'a> Body<'a> {
    pub(super) fn lines(inflated: Box<dyn Read + 'a>, plain_bytes: u64) -> Self {
        let lines = BufReader::new(inflated.take(plain_bytes + 1));
        let budget = limits::PACKAGE_PLAIN_BYTES;
        Self::Lines { lines, line: Vec::new(), number: 0, budget }
    }

    pub(super) fn blocks(inflated: Box<dyn Read + 'a>, plain_bytes: u64) -> Self {
        let blocks = BufReader::new(inflated.take(plain_bytes + 1));
        let budget = limits::PACKAGE_PLAIN_BYTES;
        Self::Blocks { blocks, decoded: VecDeque::new(), number: 0, budget }
    }

    /// The next entry; none at the end.
    pub(super) fn take(&mut self) -> Result<Option<Entry>, PackageError> {
        match self {
            Self::Lines { lines, line, number, budget } => {
                let entry = next_line(lines, line, number)?;
                entry.as_ref().map_or(Ok(()), |entry| check_size(entry, budget))?;
                Ok(entry)
            }
            Self::Blocks { blocks, decoded, number, budget } => {
                while decoded.is_empty() {
                    let Some(bytes) = next_block(blocks)? else { return Ok(None) };
                    *number += 1;
                    let entries = block::decode(&bytes, budget)
                        .map_err(|source| PackageError::Block { number: *number, source })?;
                    decoded.extend(entries);
                }
                Ok(decoded.pop_front())
            }
        }
    }
}

fn next_line(
    lines: &mut InflatedBody<'_>,
    line: &mut Vec<u8>,
    number: &mut u32,
) -> Result<Option<Entry>, PackageError> {
    line.clear();
    let bound = limits::LINE_BYTES as u64 + 1;
    let length =
        lines.by_ref().take(bound).read_until(b'\n', line).map_err(PackageError::Inflate)?;
    if length == 0 {
        return Ok(None);
    }
    check_end(lines)?;
    if length > limits::LINE_BYTES {
        return Err(PackageError::EntryTooLarge(length));
    }
    *number += 1;
    let entry = serde_json::from_slice(line);
    entry.map(Some).map_err(|source| PackageError::Entry { number: *number, source })
}

/// Checks what an entry takes in memory, as for a block: a short line may hold many links.
fn check_size(entry: &Entry, budget: &mut u64) -> Result<(), PackageError> {
    if let Entry::Fetch(fetch) = entry
        && let Outcome::Page(page) = &fetch.outcome
        && page.links.len() > limits::PAGE_LINKS as usize
    {
        return Err(PackageError::Links(page.links.len()));
    }
    if EntryRef::from(entry).charge(budget) { Ok(()) } else { Err(PackageError::Expands) }
}

fn next_block(blocks: &mut InflatedBody<'_>) -> Result<Option<Vec<u8>>, PackageError> {
    if blocks.fill_buf().map_err(PackageError::Inflate)?.is_empty() {
        return Ok(None);
    }
    let mut length = [0; 4];
    read_all(blocks, &mut length)?;
    let length = u32::from_be_bytes(length) as usize;
    if length > limits::BLOCK_BYTES {
        return Err(PackageError::EntryTooLarge(length));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::Discovered;

    #[test]
    fn the_entries_of_a_package_take_bounded_memory() {
        let url = "http://a.example/".to_owned();
        let entry = Entry::Discovered(Discovered { url, redirects: 0, handed_back: false });
        let mut budget = 2 * EntryRef::from(&entry).size() as u64 + 1;
        check_size(&entry, &mut budget).unwrap();
        check_size(&entry, &mut budget).unwrap();
        assert_eq!(budget, 1);
        assert!(matches!(check_size(&entry, &mut budget), Err(PackageError::Expands)));
    }
}
