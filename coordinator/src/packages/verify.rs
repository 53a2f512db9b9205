//! Verifies packages: signature, hashes and limits, every entry (see `protocol::package`).

use protocol::key::PublicKey;
use protocol::package::{self, Header, PackageError};
use protocol::page::Entry;

/// Verifies a package and parses every entry, without keeping them: for packages that are being
/// received.
pub fn verify(bytes: &[u8], key: &PublicKey) -> Result<Header, PackageError> {
    let package = package::open(bytes, key)?;
    package.entries().try_for_each(|entry| entry.map(drop))?;
    Ok(package.header().clone())
}

/// Verifies a package and returns its entries.
pub fn read(bytes: &[u8], key: &PublicKey) -> Result<Vec<Entry>, PackageError> {
    package::open(bytes, key)?.entries().collect()
}
