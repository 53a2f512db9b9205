//! Retries: when packages are tried again that this coordinator could not index.
//!
//! They are kept in memory only. After a restart all skipped packages are tried at once.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use model::{LedgerPosition, UnixMillis};

use crate::runtime::back_off::doubled;

/// Pause before a package is tried again; it doubles with each failure.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// Longest such pause.
const LAST_PAUSE: Duration = Duration::from_mins(10);

/// Time of the next attempt after this many failures.
pub fn retry_at(failures: u32, now: UnixMillis) -> UnixMillis {
    now.plus(doubled(FIRST_PAUSE, failures.saturating_sub(1), LAST_PAUSE))
}

/// The next attempts.
#[derive(Debug, Default)]
pub struct Retries(Mutex<HashMap<LedgerPosition, Retry>>);

#[derive(Debug)]
struct Retry {
    failures: u32,
    due: UnixMillis,
}

/// Skipped packages that are to be tried now.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DuePackages {
    /// Those that have not failed since the start.
    pub untried: Vec<LedgerPosition>,
    /// Those that have.
    pub failed: Vec<LedgerPosition>,
}

impl Retries {
    /// The skipped packages that are to be tried now, at most this many of each kind.
    pub fn due(
        &self,
        skipped: &BTreeSet<LedgerPosition>,
        now: UnixMillis,
        (untried, failed): (usize, usize),
    ) -> DuePackages {
        let retries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_untried = |position: &&LedgerPosition| !retries.contains_key(position);
        let is_due = |position: &&LedgerPosition| {
            retries.get(position).is_some_and(|retry| retry.due <= now)
        };
        DuePackages {
            untried: skipped.iter().filter(is_untried).take(untried).copied().collect(),
            failed: skipped.iter().filter(is_due).take(failed).copied().collect(),
        }
    }

    /// Notes that a package failed.
    pub fn failed(&self, position: LedgerPosition, now: UnixMillis) {
        let mut retries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let retry = retries.entry(position).or_insert(Retry { failures: 0, due: now });
        retry.failures += 1;
        retry.due = retry_at(retry.failures, now);
    }

    /// How many of the skipped packages have failed since the start.
    pub fn count(&self, skipped: &BTreeSet<LedgerPosition>) -> usize {
        let retries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        retries.keys().filter(|position| skipped.contains(position)).count()
    }

    /// Notes that a package was indexed.
    pub fn succeeded(&self, position: LedgerPosition) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&position);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_that_fails_is_tried_again_after_growing_pauses() {
        let retries = Retries::default();
        let one = LedgerPosition::new(1);
        let skipped = BTreeSet::from([one]);
        let due = |now| retries.due(&skipped, UnixMillis(now), (9, 9));
        let is_due = |now| due(now).failed == [one];
        assert_eq!(due(0).untried, [one], "it was skipped before the restart");
        retries.failed(one, UnixMillis(0));
        assert!(!is_due(999) && is_due(1_000));
        retries.failed(one, UnixMillis(1_000));
        assert!(!is_due(2_999) && is_due(3_000));
        (0..20).for_each(|_| retries.failed(one, UnixMillis(0)));
        assert!(!is_due(599_999) && is_due(600_000));
        retries.succeeded(one);
        assert_eq!(due(0).untried, [one]);
    }
}
