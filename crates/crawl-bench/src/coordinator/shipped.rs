//! What the agent has shipped.

use std::collections::{BTreeMap, HashSet};

use axum::body::Bytes;
use protocol::key::PublicKey;
use protocol::package::{self, PackageError};
use protocol::page::{Entry, Outcome};
use serde::{Deserialize, Serialize};

/// All packages of an agent, decoded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shipped {
    pub packages: u64,
    /// Bytes of all packages.
    pub bytes: u64,
    /// Different URLs of which a page was shipped.
    pub pages: u64,
    /// Pages that were shipped before.
    pub repeated: u64,
    /// URLs that robots.txt forbids.
    pub disallowed: u64,
    /// Fetches that failed.
    pub failed: u64,
    /// Bytes of the texts of pages.
    pub text_bytes: u64,
}

/// Decodes all packages. It is done when the crawl is over, so that it takes no time from it.
pub(super) fn decode(
    packages: &BTreeMap<(u64, u64), Bytes>,
    key: &PublicKey,
) -> Result<Shipped, PackageError> {
    let mut shipped = Shipped::default();
    let mut seen = HashSet::new();
    for bytes in packages.values() {
        shipped.packages += 1;
        shipped.bytes += bytes.len() as u64;
        for entry in package::open(bytes, key)?.entries()? {
            let Entry::Fetch(fetch) = entry? else { continue };
            match &fetch.outcome {
                Outcome::Page(page) => {
                    shipped.text_bytes += page.text.len() as u64;
                    if seen.insert(fetch.url.clone()) {
                        shipped.pages += 1;
                    } else {
                        shipped.repeated += 1;
                    }
                }
                Outcome::Disallowed { .. } => shipped.disallowed += 1,
                Outcome::Failed(_) => shipped.failed += 1,
                Outcome::Redirect { .. } | Outcome::Other { .. } | Outcome::Unchanged { .. } => {}
            }
        }
    }
    Ok(shipped)
}
