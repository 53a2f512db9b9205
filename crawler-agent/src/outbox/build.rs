//! Building of packages that the coordinator will take.

use model::UnixMillis;
use protocol::{
    key::AgentKey, package::PackageBuilder, package::PackageError, package::PackageName,
    package::Written, package::open, page::Entry, page::Outcome,
};

use super::OutboxError;

/// A package of as many results as fit, from the first on, and the number of the last one in it.
///
/// Results that the reader would refuse together go into smaller packages: those that are too
/// large, and those that compress so well that they look like a decompression bomb.
pub(super) fn package(
    results: &[(u64, Entry)],
    name: PackageName,
    created: UnixMillis,
    key: &AgentKey,
) -> Result<(Written, u64), OutboxError> {
    let mut count = results.len();
    loop {
        let part = &results[..count];
        match attempt(part, name, created, key) {
            Ok(written) => return Ok((written, part.last().map_or(0, |(order, _)| *order))),
            // Halving finds a size that fits in few attempts.
            Err(_) if count > 1 => count /= 2,
            Err(error) => return without_content(part, &error, name, created, key),
        }
    }
}

fn attempt(
    results: &[(u64, Entry)],
    name: PackageName,
    created: UnixMillis,
    key: &AgentKey,
) -> Result<Written, PackageError> {
    let mut builder = PackageBuilder::default();
    for (_, entry) in results {
        builder.push(entry)?;
    }
    let written = builder.finish(name, created, key)?;
    // Read with the coordinator's own checks: a package that it would refuse must not be sealed.
    open(&written.bytes, &key.public())?;
    Ok(written)
}

/// A package in which a result that does not fit is reported as failed.
fn without_content(
    results: &[(u64, Entry)],
    error: &PackageError,
    name: PackageName,
    created: UnixMillis,
    key: &AgentKey,
) -> Result<(Written, u64), OutboxError> {
    let mut results = results.to_vec();
    for (_, entry) in &mut results {
        if let Entry::Fetch(fetch) = entry {
            let reason = format!("the page cannot be packed: {error}");
            fetch.outcome = Outcome::Failed { reason };
        }
    }
    let written = attempt(&results, name, created, key).map_err(OutboxError::Build)?;
    Ok((written, results.last().map_or(0, |(order, _)| *order)))
}
