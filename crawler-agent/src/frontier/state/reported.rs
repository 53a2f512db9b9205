//! Recently reported URLs of other agents' hosts, so that a link that is on every page of a site is
//! not reported with each page.
//!
//! The filter is bounded and in memory only: a URL may be reported again after many others or after
//! a restart. The coordinator takes each URL once.

use std::collections::HashSet;

use model::Fingerprint;

/// URLs of one generation; two generations take about 2 MiB.
const GENERATION: usize = 1 << 16;

/// Filter of URLs that were reported not long ago.
#[derive(Debug, Default)]
pub(in crate::frontier) struct RecentlyReported {
    current: HashSet<u64>,
    previous: HashSet<u64>,
}

impl RecentlyReported {
    /// Whether a URL was reported not long ago.
    pub(in crate::frontier) fn contains(&self, url: Fingerprint) -> bool {
        let short = super::short(url);
        self.previous.contains(&short) || self.current.contains(&short)
    }

    /// Adds a URL; returns whether it was not there.
    pub(in crate::frontier) fn insert(&mut self, url: Fingerprint) -> bool {
        let short = super::short(url);
        if self.previous.contains(&short) || !self.current.insert(short) {
            return false;
        }
        if self.current.len() >= GENERATION {
            self.previous = std::mem::take(&mut self.current);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(number: u64) -> Fingerprint {
        let mut fingerprint = Fingerprint::default();
        fingerprint[..8].copy_from_slice(&number.to_le_bytes());
        fingerprint
    }

    #[test]
    fn a_url_is_new_once_until_many_others_were_reported() {
        let mut reported = RecentlyReported::default();
        assert!(reported.insert(url(0)));
        assert!(!reported.insert(url(0)));
        let generation = GENERATION as u64;
        assert!((1..generation).all(|number| reported.insert(url(number))));
        assert!(!reported.insert(url(0)), "in the generation before");
        assert!((generation..2 * generation).all(|number| reported.insert(url(number))));
        assert!(reported.insert(url(0)), "forgotten");
        assert!(reported.current.len() + reported.previous.len() <= 2 * GENERATION);
    }
}
