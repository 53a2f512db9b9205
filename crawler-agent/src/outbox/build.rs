//! Building of packages that the coordinator will take.

use std::sync::Arc;

use model::{ErrorKind, UnixMillis};
use protocol::{
    key::AgentKey, package::FinishedPackage, package::PackageError, package::PackageName,
    package::build, package::open, page::Entry,
};

use super::OutboxError;
use crate::frontier::{FrontierError, StoredResults};

/// What a package contains in addition to its entries.
#[derive(Clone, Copy)]
pub(super) struct Label<'a> {
    pub(super) name: PackageName,
    pub(super) created: UnixMillis,
    pub(super) key: &'a AgentKey,
}

/// A package of as many results as fit, from the first on, and the number of the last one in it.
///
/// Results that the reader would refuse together go into smaller packages: those that are too
/// large, and those that compress so well that they look like a decompression bomb.
pub(super) fn package(
    results: &StoredResults,
    label: Label<'_>,
) -> Result<(FinishedPackage, u64), OutboxError> {
    let entries = read(results)?;
    let mut count = results.len();
    loop {
        let through = results[..count].last().map_or(0, |(order, _)| *order);
        match attempt(&entries[..count], label) {
            Ok(written) => return Ok((written, through)),
            // Halving finds a size that fits in few attempts.
            Err(_) if count > 1 => count /= 2,
            Err(error) => {
                return Ok((without_content(&entries[..count], &error, label)?, through));
            }
        }
    }
}

fn read(results: &[(u64, Arc<[u8]>)]) -> Result<Vec<Entry<&str>>, OutboxError> {
    let entries = results.iter().map(|(_, bytes)| Entry::read(bytes));
    Ok(entries.collect::<Result<_, _>>().map_err(FrontierError::from)?)
}

fn attempt(entries: &[Entry<&str>], label: Label<'_>) -> Result<FinishedPackage, PackageError> {
    let Label { name, created, key } = label;
    let written = build(entries, name, created, key)?;
    // Read with the coordinator's own checks: a package that it would refuse must not be sealed.
    open(&written.bytes, &key.public())?;
    Ok(written)
}

/// A package in which results that do not fit are reported as failed.
fn without_content(
    entries: &[Entry<&str>],
    error: &PackageError,
    label: Label<'_>,
) -> Result<FinishedPackage, OutboxError> {
    let reason = format!("the page cannot be packed: {error}");
    let failed = |entry: &Entry<_>| entry.clone().failed(ErrorKind::Content, &reason);
    let entries: Vec<_> = entries.iter().map(failed).collect();
    attempt(&entries, label).map_err(OutboxError::Build)
}
