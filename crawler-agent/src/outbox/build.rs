//! Building of packages that the coordinator will take.

use std::sync::Arc;

use model::UnixMillis;
use protocol::{
    key::AgentKey, package::Coding, package::PackageBuilder, package::PackageError,
    package::PackageName, package::Written, package::decode_entry, package::open, page::Entry,
    page::Outcome,
};

use super::OutboxError;
use crate::frontier::{FrontierError, StoredResults};

/// What a package says of itself besides its entries.
#[derive(Clone, Copy)]
pub(super) struct Label<'a> {
    pub(super) name: PackageName,
    pub(super) created: UnixMillis,
    pub(super) coding: Coding,
    pub(super) key: &'a AgentKey,
}

/// A package of as many results as fit, from the first on, and the number of the last one in it.
///
/// Results that the reader would refuse together go into smaller packages: those that are too
/// large, and those that compress so well that they look like a decompression bomb.
pub(super) fn package(
    results: &StoredResults,
    label: Label<'_>,
) -> Result<(Written, u64), OutboxError> {
    let mut count = results.len();
    loop {
        let part = &results[..count];
        let entries = decode(part)?;
        match attempt(entries, label) {
            Ok(written) => return Ok((written, part.last().map_or(0, |(order, _)| *order))),
            // Halving finds a size that fits in few attempts.
            Err(_) if count > 1 => count /= 2,
            Err(error) => return without_content(part, &error, label),
        }
    }
}

fn decode(results: &[(u64, Arc<[u8]>)]) -> Result<Vec<Entry>, OutboxError> {
    let entries = results.iter().map(|(_, bytes)| decode_entry(bytes));
    Ok(entries.collect::<Result<_, _>>().map_err(FrontierError::from)?)
}

fn attempt(entries: Vec<Entry>, label: Label<'_>) -> Result<Written, PackageError> {
    let Label { name, created, coding, key } = label;
    let mut builder = PackageBuilder::new(coding);
    for entry in entries {
        builder.push(entry);
    }
    let written = builder.finish(name, created, key)?;
    // Read with the coordinator's own checks: a package that it would refuse must not be sealed.
    open(&written.bytes, &key.public())?;
    Ok(written)
}

/// A package in which a result that does not fit is reported as failed.
fn without_content(
    results: &[(u64, Arc<[u8]>)],
    error: &PackageError,
    label: Label<'_>,
) -> Result<(Written, u64), OutboxError> {
    let mut entries = decode(results)?;
    for entry in &mut entries {
        if let Entry::Fetch(fetch) = entry {
            let reason = format!("the page cannot be packed: {error}");
            fetch.outcome = Outcome::Failed { reason };
        }
    }
    let written = attempt(entries, label).map_err(OutboxError::Build)?;
    Ok((written, results.last().map_or(0, |(order, _)| *order)))
}
