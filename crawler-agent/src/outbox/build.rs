//! Building of packages that the coordinator will take.

use std::sync::Arc;

use model::UnixMillis;
use protocol::{
    key::AgentKey, package::PackageBuilder, package::PackageError, package::PackageName,
    package::Written, package::open, page::Entry, page::Outcome,
};

use super::OutboxError;
use crate::frontier::{FrontierError, Lines};

/// A package of as many results as fit, from the first on, and the number of the last one in it.
///
/// Results that the reader would refuse together go into smaller packages: those that are too
/// large, and those that compress so well that they look like a decompression bomb.
pub(super) fn package(
    results: &Lines,
    name: PackageName,
    created: UnixMillis,
    key: &AgentKey,
) -> Result<(Written, u64), OutboxError> {
    let mut count = results.len();
    loop {
        let part = &results[..count];
        match attempt(part.iter().map(|(_, line)| line.as_ref()), name, created, key) {
            Ok(written) => return Ok((written, part.last().map_or(0, |(order, _)| *order))),
            // Halving finds a size that fits in few attempts.
            Err(_) if count > 1 => count /= 2,
            Err(error) => return without_content(part, &error, name, created, key),
        }
    }
}

fn attempt<'l>(
    lines: impl Iterator<Item = &'l [u8]>,
    name: PackageName,
    created: UnixMillis,
    key: &AgentKey,
) -> Result<Written, PackageError> {
    let mut builder = PackageBuilder::default();
    for line in lines {
        builder.push_line(line)?;
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
    name: PackageName,
    created: UnixMillis,
    key: &AgentKey,
) -> Result<(Written, u64), OutboxError> {
    let mut lines = Vec::new();
    for (_, line) in results {
        let mut entry = serde_json::from_slice(line).map_err(FrontierError::from)?;
        if let Entry::Fetch(fetch) = &mut entry {
            let reason = format!("the page cannot be packed: {error}");
            fetch.outcome = Outcome::Failed { reason };
        }
        lines.push(serde_json::to_vec(&entry).map_err(FrontierError::from)?);
    }
    let lines = lines.iter().map(Vec::as_slice);
    let written = attempt(lines, name, created, key).map_err(OutboxError::Build)?;
    Ok((written, results.last().map_or(0, |(order, _)| *order)))
}
