//! Verifies packages: signature, hashes and limits, every entry (see `protocol::package`).

use std::collections::BTreeSet;

use model::{CrawlUrl, HostKey};
use protocol::key::PublicKey;
use protocol::package::{self, Header, PackageError};
use protocol::page::Entry;

/// A package that was verified while it was received.
pub struct VerifiedPackage {
    /// The signed header.
    pub header: Header,
    /// Hosts of its fetches.
    pub hosts: BTreeSet<HostKey>,
}

/// Verifies a package and parses every entry, without keeping them: for packages that are being
/// received.
pub fn verify(bytes: &[u8], key: &PublicKey) -> Result<VerifiedPackage, PackageError> {
    let package = package::open(bytes, key)?;
    let mut hosts = BTreeSet::new();
    for entry in package.entries()? {
        if let Entry::Fetch(fetch) = entry? {
            hosts.extend(CrawlUrl::parse(&fetch.url).map(|url| url.host_key()).ok());
        }
    }
    Ok(VerifiedPackage { header: package.header().clone(), hosts })
}

/// Verifies a package and returns its entries.
pub fn read(bytes: &[u8], key: &PublicKey) -> Result<Vec<Entry>, PackageError> {
    package::open(bytes, key)?.entries()?.collect()
}
