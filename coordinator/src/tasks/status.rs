//! Statuses of the background tasks, for the status page and tests.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use model::UnixMillis;

use crate::runtime::outcome::Outcome;

/// Results of the runs of one background task.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Status {
    /// Number of completed runs, failed ones included.
    pub runs: u64,
    /// Number of failed runs.
    pub failures: u64,
    /// Time that all runs took together.
    pub busy: Duration,
    /// Number of failures in a row; 0 if the last run succeeded.
    pub failing: u32,
    /// Whether more work was waiting when the last run ended.
    pub more: bool,
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

    /// The number of the task's next run, counted from 1.
    pub(super) fn next_run(&self, name: &str) -> u64 {
        let all = self.by_name.lock().unwrap_or_else(PoisonError::into_inner);
        all.get(name).map_or(1, |status| status.runs + 1)
    }

    pub(super) fn succeeded(&self, run: EndedRun, outcome: Outcome) {
        self.change(run, |status| {
            status.failing = 0;
            status.last_error = None;
            status.more = matches!(outcome, Outcome::More(_));
            if let Outcome::Done(done) | Outcome::More(done) = outcome {
                status.last_outcome = Some(done);
            }
        });
    }

    /// Returns the number of failures in a row.
    pub(super) fn failed(&self, run: EndedRun, error: String) -> u32 {
        self.change(run, |status| {
            status.failures += 1;
            status.failing = status.failing.saturating_add(1);
            status.last_error = Some(error);
        })
    }

    /// The task does not run here any more, so its last failure and its backlog are out of date.
    pub(super) fn forget_failure(&self, name: &str) {
        let mut all = self.by_name.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(status) = all.get_mut(name) {
            status.failing = 0;
            status.last_error = None;
            status.more = false;
        }
    }

    fn change(&self, run: EndedRun, change: impl FnOnce(&mut Status)) -> u32 {
        let mut all = self.by_name.lock().unwrap_or_else(PoisonError::into_inner);
        let status = all.entry(run.task).or_default();
        status.runs += 1;
        status.busy += run.took;
        status.last_run_at = Some(run.at);
        change(status);
        status.failing
    }
}

/// A run of a task that has ended.
#[derive(Debug, Clone, Copy)]
pub(super) struct EndedRun {
    /// Name of the task.
    pub(super) task: &'static str,
    /// Duration of the run.
    pub(super) took: Duration,
    /// When it ended.
    pub(super) at: UnixMillis,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(at: i64) -> EndedRun {
        EndedRun { task: "work", took: Duration::from_secs(2), at: UnixMillis(at) }
    }

    #[test]
    fn a_success_ends_a_row_of_failures_and_the_last_outcome_stays() {
        let statuses = Statuses::default();
        assert_eq!(statuses.next_run("work"), 1);
        statuses.succeeded(run(1), Outcome::More("did it".to_owned()));
        assert!(statuses.all()["work"].more);
        assert_eq!(statuses.failed(run(2), "away".to_owned()), 1);
        assert_eq!(statuses.failed(run(3), "away".to_owned()), 2);
        let failing = statuses.all()["work"].clone();
        assert_eq!((failing.runs, failing.last_error.as_deref()), (3, Some("away")));
        assert_eq!(statuses.next_run("work"), 4);
        statuses.succeeded(run(4), Outcome::Idle);
        let well = statuses.all()["work"].clone();
        assert_eq!(
            (well.failing, well.last_error, well.last_outcome.as_deref()),
            (0, None, Some("did it"))
        );
        assert_eq!((well.runs, well.failures, well.busy.as_secs()), (4, 2, 8));
        assert!(!well.more);
    }

    #[test]
    fn a_coordinator_that_leads_no_more_shows_no_failure_of_its_term() {
        let statuses = Statuses::default();
        statuses.failed(run(1), "away".to_owned());
        statuses.forget_failure("work");
        statuses.forget_failure("never ran");
        let all = statuses.all();
        assert_eq!((all.len(), all["work"].failing, &all["work"].last_error), (1, 0, &None));
    }
}
