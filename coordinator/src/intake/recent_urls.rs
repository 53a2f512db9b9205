//! URLs that were routed recently. Many agents find the same links; most repeats need not reach
//! Postgres.
//!
//! The set is bounded: of its two halves the older is dropped when the younger is full. Dropping a
//! URL is harmless, because an agent fetches a URL once however often it is routed. A false match
//! would lose a page, so whole 128-bit fingerprints are kept.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use model::Fingerprint;

/// A bounded set of fingerprints.
#[derive(Debug)]
pub struct RecentUrls {
    halves: Mutex<Generations>,
    capacity: usize,
}

#[derive(Debug, Default)]
struct Generations {
    young: HashSet<Fingerprint>,
    old: HashSet<Fingerprint>,
}

impl RecentUrls {
    /// Remembers between `capacity / 2` and `capacity` fingerprints, about 32 bytes each.
    pub fn new(capacity: usize) -> Self {
        Self { halves: Mutex::default(), capacity }
    }

    /// Whether the URL was routed recently.
    pub fn contains(&self, fingerprint: Fingerprint) -> bool {
        let halves = self.halves.lock().unwrap_or_else(PoisonError::into_inner);
        halves.young.contains(&fingerprint) || halves.old.contains(&fingerprint)
    }

    /// Adds URLs. Call it after the transaction that routed them is committed.
    pub fn remember(&self, fingerprints: impl IntoIterator<Item = Fingerprint>) {
        let mut halves = self.halves.lock().unwrap_or_else(PoisonError::into_inner);
        for fingerprint in fingerprints {
            if halves.young.len() >= self.capacity / 2 {
                halves.old = std::mem::take(&mut halves.young);
            }
            halves.young.insert(fingerprint);
        }
    }

    /// Empties the set. When routes are withdrawn, their URLs must be routed again.
    pub fn forget(&self) {
        *self.halves.lock().unwrap_or_else(PoisonError::into_inner) = Generations::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contains_the_younger_half_at_least_and_never_more_than_its_capacity() {
        let recent = RecentUrls::new(100);
        recent.remember((0..1_000).map(u128::to_be_bytes));
        assert!((950..1_000).map(u128::to_be_bytes).all(|f| recent.contains(f)));
        assert!((0..900).map(u128::to_be_bytes).all(|f| !recent.contains(f)));
    }

    #[test]
    fn forgets_all() {
        let recent = RecentUrls::new(100);
        let url = model::url::fingerprint("http://a.example/");
        recent.remember([url]);
        assert!(recent.contains(url));
        recent.forget();
        assert!(!recent.contains(url));
    }
}
