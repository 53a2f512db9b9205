//! Here are results: make a package that the coordinator will take.

use model::UnixMillis;
use protocol::{
    key::AgentKey, package::PackageBuilder, package::PackageError, package::PackageName,
    package::Written, package::open, page::Entry, page::Outcome,
};

use super::OutboxError;

/// A package of as many of the results as fit, from the first on, and the number of the last one in
/// it.
///
/// What the reader would refuse is not sent: results that compress so well that they look like a
/// bomb, or that are too large together, go into smaller packages.
pub(super) fn package(
    entries: &[(u64, Entry)],
    name: PackageName,
    created: UnixMillis,
    key: &AgentKey,
) -> Result<(Written, u64), OutboxError> {
    let mut count = entries.len();
    loop {
        let part = &entries[..count];
        match attempt(part, name, created, key) {
            Ok(written) => return Ok((written, part.last().map_or(0, |(order, _)| *order))),
            Err(_) if count > 1 => count /= 2,
            Err(error) => return without_content(part, &error, name, created, key),
        }
    }
}

fn attempt(
    entries: &[(u64, Entry)],
    name: PackageName,
    created: UnixMillis,
    key: &AgentKey,
) -> Result<Written, PackageError> {
    let mut builder = PackageBuilder::default();
    for (_, entry) in entries {
        builder.push(entry)?;
    }
    let written = builder.finish(name, created, key)?;
    open(&written.bytes, &key.public())?;
    Ok(written)
}

/// A single result that does not fit: the coordinator is told so in its place.
fn without_content(
    entries: &[(u64, Entry)],
    error: &PackageError,
    name: PackageName,
    created: UnixMillis,
    key: &AgentKey,
) -> Result<(Written, u64), OutboxError> {
    let told = entries.iter().map(|(order, entry)| match entry {
        Entry::Fetch(fetch) => {
            let mut fetch = fetch.clone();
            fetch.outcome =
                Outcome::Failed { reason: format!("the page can't be packed: {error}") };
            (*order, Entry::Fetch(fetch))
        }
        Entry::Discovered(_) => (*order, entry.clone()),
    });
    let told: Vec<(u64, Entry)> = told.collect();
    let written = attempt(&told, name, created, key).map_err(OutboxError::Build)?;
    Ok((written, told.last().map_or(0, |(order, _)| *order)))
}
