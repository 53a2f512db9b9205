//! Statuses of the background tasks, for the status page and tests.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use model::UnixMillis;

/// Results of the runs of one background task.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Status {
    /// Number of completed runs, failed ones included.
    pub runs: u64,
    /// Number of failures in a row; 0 if the last run succeeded.
    pub failing: u32,
    /// When the last run ended.
    pub last_run_at: Option<UnixMillis>,
    /// Summary of the last run that had work to do.
    pub last_outcome: Option<String>,
    /// Error of the last run; `None` if it succeeded.
    pub last_error: Option<String>,
}

/// The statuses of all background tasks, by name.
#[derive(Debug, Default)]
pub struct Statuses {
    by_name: Mutex<BTreeMap<&'static str, Status>>,
}

impl Statuses {
    /// Statuses by the names of the tasks; a task that has not run yet is missing.
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

    /// Returns the number of failures in a row.
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
    fn a_success_ends_a_row_of_failures_and_the_last_outcome_stays() {
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
