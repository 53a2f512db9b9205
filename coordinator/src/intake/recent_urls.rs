//! URLs that were routed recently. Many agents find the same links; most repeats need not reach
//! Postgres.
//!
//! The set is bounded. Dropping a URL is harmless: an agent fetches a URL once, no matter how often
//! it is routed. A false match would lose a page, so whole 128-bit fingerprints are kept.

use std::sync::{Mutex, MutexGuard, PoisonError};

use model::{Fingerprint, RecentSet};

/// A bounded set of fingerprints.
#[derive(Debug)]
pub struct RecentUrls(Mutex<RecentSet<Fingerprint>>);

impl RecentUrls {
    /// Remembers between `capacity / 2` and `capacity` fingerprints, about 32 bytes each.
    pub fn new(capacity: usize) -> Self {
        Self(Mutex::new(RecentSet::new(capacity)))
    }

    /// Whether the URL was routed recently.
    pub fn contains(&self, fingerprint: Fingerprint) -> bool {
        self.lock().contains(&fingerprint)
    }

    /// Adds URLs. Call it after the transaction that routed them is committed.
    pub fn remember(&self, fingerprints: impl IntoIterator<Item = Fingerprint>) {
        let mut recent = self.lock();
        for fingerprint in fingerprints {
            recent.insert(fingerprint);
        }
    }

    /// Empties the set. When routes are withdrawn, their URLs must be routed again.
    pub fn forget(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> MutexGuard<'_, RecentSet<Fingerprint>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
