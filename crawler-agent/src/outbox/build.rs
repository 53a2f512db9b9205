//! Building of packages that the coordinator will take.

use std::sync::Arc;

use model::{ErrorKind, UnixMillis};
use protocol::{
    key::AgentKey, package::EntryRef, package::FinishedPackage, package::PackageBuilder,
    package::PackageError, package::PackageName, package::open,
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
        match attempt(entries[..count].iter().cloned(), label) {
            Ok(written) => return Ok((written, through)),
            // Halving finds a size that fits in few attempts.
            Err(_) if count > 1 => count /= 2,
            Err(error) => {
                return Ok((without_content(&entries[..count], &error, label)?, through));
            }
        }
    }
}

fn read(results: &[(u64, Arc<[u8]>)]) -> Result<Vec<EntryRef<'_>>, OutboxError> {
    let entries = results.iter().map(|(_, bytes)| EntryRef::read(bytes));
    Ok(entries.collect::<Result<_, _>>().map_err(FrontierError::from)?)
}

fn attempt<'a>(
    entries: impl Iterator<Item = EntryRef<'a>>,
    label: Label<'_>,
) -> Result<FinishedPackage, PackageError> {
    let Label { name, created, key } = label;
    let mut builder = PackageBuilder::default();
    for entry in entries {
        builder.push(entry);
    }
    let written = builder.finish(name, created, key)?;
    // Read with the coordinator's own checks: a package that it would refuse must not be sealed.
    open(&written.bytes, &key.public())?;
    Ok(written)
}

/// A package in which results that do not fit are reported as failed.
fn without_content(
    entries: &[EntryRef<'_>],
    error: &PackageError,
    label: Label<'_>,
) -> Result<FinishedPackage, OutboxError> {
    let reason = format!("the page cannot be packed: {error}");
    let entries = entries.iter().map(|entry| entry.clone().failed(ErrorKind::Content, &reason));
    attempt(entries, label).map_err(OutboxError::Build)
}
