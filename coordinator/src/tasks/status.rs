//! How the background tasks do, for whoever looks.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use model::UnixMillis;

/// How one background task does.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Status {
    /// Runs that came to an end, well or not.
    pub runs: u64,
    /// Failures in a row; 0 when the last run went well.
    pub failing: u32,
    /// When the last run ended.
    pub last_run_at: Option<UnixMillis>,
    /// What the last run that did anything did.
    pub last_outcome: Option<String>,
    /// Why the last run failed; none when it went well.
    pub last_error: Option<String>,
}

/// The statuses of all background tasks, by name.
#[derive(Debug, Default)]
pub struct Statuses {
    by_name: Mutex<BTreeMap<&'static str, Status>>,
}

impl Statuses {
    /// All of them.
    pub fn all(&self) -> BTreeMap<&'static str, Status> {
        self.by_name.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn succeeded(&self, name: &'static str, outcome: Option<String>, now: UnixMillis) {
        self.change(name, now, |status| {
            status.failing = 0;
            status.last_error = None;
            if outcome.is_some() {
                status.last_outcome = outcome;
            }
        });
    }

    /// Says how often in a row it failed now.
    pub(super) fn failed(&self, name: &'static str, error: String, now: UnixMillis) -> u32 {
        self.change(name, now, |status| {
            status.failing = status.failing.saturating_add(1);
            status.last_error = Some(error);
        })
    }

    fn change(&self, name: &'static str, now: UnixMillis, change: impl FnOnce(&mut Status)) -> u32 {
        let mut all = self.by_name.lock().unwrap_or_else(PoisonError::into_inner);
        let status = all.entry(name).or_default();
        status.runs += 1;
        status.last_run_at = Some(now);
        change(status);
        status.failing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_good_run_ends_a_row_of_failures_and_the_last_outcome_stays() {
        let statuses = Statuses::default();
        statuses.succeeded("work", Some("did it".to_owned()), UnixMillis(1));
        assert_eq!(statuses.failed("work", "away".to_owned(), UnixMillis(2)), 1);
        assert_eq!(statuses.failed("work", "away".to_owned(), UnixMillis(3)), 2);
        let failing = statuses.all()["work"].clone();
        assert_eq!((failing.runs, failing.last_error.as_deref()), (3, Some("away")));
        statuses.succeeded("work", None, UnixMillis(4));
        let well = statuses.all()["work"].clone();
        assert_eq!(
            (well.failing, well.last_error, well.last_outcome.as_deref()),
            (0, None, Some("did it"))
        );
    }
}
