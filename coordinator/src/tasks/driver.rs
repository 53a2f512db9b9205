//! Runs the background tasks of the table until the coordinator stops.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use model::UnixMillis;
use tokio::sync::Notify;
use tokio::time::timeout;
use tokio_util::task::TaskTracker;
use tracing::Instrument as _;

use crate::runtime::back_off::doubled;
use crate::runtime::events::Events;
use crate::runtime::failure::chain;
use crate::runtime::outcome::Outcome;
use crate::tasks::coordinator::Coordinator;
use crate::tasks::status::EndedRun;
use crate::tasks::table::{BackgroundTask, WAKE_ALL};

/// Longest wait after failures.
const BACK_OFF_LIMIT: Duration = Duration::from_secs(15);
/// Time for which a run may go on after the leadership has ended.
const LONGEST_AFTERWARDS: Duration = Duration::from_secs(30);
/// Time for which a run of a task that every coordinator runs may go on. The longest of them reads
/// the whole hierarchy, within minutes.
const LONGEST_RUN: Duration = Duration::from_hours(1);

/// Background tasks, each with the signal that notifies it.
pub struct TaskSet(Vec<(&'static BackgroundTask, Arc<Notify>)>);

impl TaskSet {
    /// Subscribes tasks to the events that wake them.
    pub fn subscribe(
        tasks: impl IntoIterator<Item = &'static BackgroundTask>,
        events: &Events,
    ) -> Self {
        let subscribe = |task: &'static BackgroundTask| {
            (task, events.subscribe([&WAKE_ALL, task.woken_by].concat()))
        };
        Self(tasks.into_iter().map(subscribe).collect())
    }

    /// Notifies the task of this name, if this coordinator runs it. An unknown name is ignored: it
    /// is one of another version.
    pub fn wake(&self, name: &str, is_leader: bool) {
        let named = self.0.iter().find(|(task, _)| task.name == name);
        if let Some((_, wake)) = named.filter(|(task, _)| is_leader || !task.leader_only) {
            wake.notify_one();
        }
    }

    /// Starts all tasks. Each runs at once, then when it is woken or its period is over, but not
    /// before it has rested.
    pub fn start(&self, coordinator: &Arc<Coordinator>, tracker: &TaskTracker) {
        for (task, wake) in &self.0 {
            tracker.spawn(run(task, Arc::clone(wake), Arc::clone(coordinator)));
        }
    }
}

/// Runs one task until the coordinator stops. A run that has begun is finished.
async fn run(task: &'static BackgroundTask, wake: Arc<Notify>, coordinator: Arc<Coordinator>) {
    let stop = coordinator.stop.clone();
    while !stop.is_cancelled() {
        let pause = run_once(task, &coordinator).await;
        let is_woken = tokio::select! {
            () = stop.cancelled() => return,
            is_woken = pause.over(&wake) => is_woken,
        };
        // The event happened here, but the work is the leader's.
        if is_woken && task.leader_only && !coordinator.is_leader() {
            coordinator.peer_hints.wake_task(task.name);
        }
    }
}

/// The pause until the next run.
struct Pause {
    /// An event during this time starts the next run at the end of it.
    least: Duration,
    longest: Duration,
    can_be_woken: bool,
}

impl Pause {
    /// Returns when the pause is over: true if the task was woken.
    async fn over(&self, wake: &Notify) -> bool {
        tokio::time::sleep(self.least).await;
        tokio::select! {
            () = tokio::time::sleep(self.longest.saturating_sub(self.least)) => false,
            () = wake.notified(), if self.can_be_woken => true,
        }
    }
}

async fn run_once(task: &'static BackgroundTask, coordinator: &Coordinator) -> Pause {
    if task.leader_only && !coordinator.is_leader() {
        // The next leader may do what this one could not.
        coordinator.statuses.forget_failure(task.name);
        return Pause { least: Duration::ZERO, longest: task.period, can_be_woken: true };
    }
    // Log lines of the run name the task and the run.
    let run = coordinator.statuses.next_run(task.name);
    let span = tracing::info_span!("task", name = task.name, run);
    run_now(task, coordinator).instrument(span).await
}

async fn run_now(task: &'static BackgroundTask, coordinator: &Coordinator) -> Pause {
    let started = Instant::now();
    // A panic is a bug in one task; it must not end that task for good.
    let running = AssertUnwindSafe((task.run)(coordinator)).catch_unwind();
    let overtime = async {
        if task.leader_only {
            end_of_term(|| coordinator.leader.since()).await;
        } else {
            let _ = timeout(LONGEST_RUN, coordinator.store.lost()).await;
        }
    };
    let outcome = tokio::select! {
        outcome = running => outcome.unwrap_or_else(|panic| {
            Err(anyhow::anyhow!("it panicked: {}", panic_message(&*panic)))
        }),
        () = overtime => {
            Err(anyhow::anyhow!("it waited too long, perhaps for the database, and was given up"))
        }
    };
    let took = started.elapsed();
    let run = EndedRun { task: task.name, took, at: coordinator.now() };
    match outcome {
        Ok(outcome) => {
            if let Outcome::Done(done) | Outcome::More(done) = &outcome {
                tracing::debug!(done);
            }
            let has_more = matches!(outcome, Outcome::More(_));
            coordinator.statuses.succeeded(run, outcome);
            let longest = if has_more { Duration::ZERO } else { task.period };
            Pause { least: task.least_rest(took), longest, can_be_woken: true }
        }
        Err(error) => {
            let error = chain(&*error);
            let failures = coordinator.statuses.failed(run, error.clone());
            let longest = back_off(failures);
            tracing::warn!(failures, error, "the task failed; it runs again in {longest:?}");
            // Events may be frequent: a failing task must not retry at their rate.
            Pause { least: Duration::ZERO, longest, can_be_woken: false }
        }
    }
}

/// Returns [`LONGEST_AFTERWARDS`] after the end of the leader's term.
async fn end_of_term(leader_since: impl Fn() -> Option<UnixMillis>) {
    let mut term = Term { began_at: leader_since(), lost_at: None };
    while !term.is_long_over(leader_since(), Instant::now()) {
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

/// The term of the leader in which a run began. That the coordinator leads again does not help: the
/// run may wait for the database server of the former term.
struct Term {
    began_at: Option<UnixMillis>,
    lost_at: Option<Instant>,
}

impl Term {
    fn is_long_over(&mut self, leader_since: Option<UnixMillis>, now: Instant) -> bool {
        if leader_since.is_none() || leader_since != self.began_at {
            self.lost_at.get_or_insert(now);
        }
        self.lost_at.is_some_and(|lost_at| now.duration_since(lost_at) >= LONGEST_AFTERWARDS)
    }
}

fn panic_message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}

/// The pause after this many failures in a row.
fn back_off(failures: u32) -> Duration {
    doubled(Duration::from_millis(250), failures.saturating_sub(1), BACK_OFF_LIMIT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_ends_some_time_after_its_term_of_leadership() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let first = Some(UnixMillis(1));
        let next = Some(UnixMillis(2));
        let mut limit = Term { began_at: first, lost_at: None };
        for (second, leader_since, is_over) in [
            (40, first, false),
            (41, None, false),
            (45, next, false),
            (70, next, false),
            (71, next, true),
        ] {
            assert_eq!(limit.is_long_over(leader_since, at(second)), is_over, "{second} s");
        }
        for (began_at, leader_since) in [(first, next), (None, None)] {
            let mut limit = Term { began_at, lost_at: None };
            assert!(!limit.is_long_over(leader_since, at(0)));
            assert!(limit.is_long_over(leader_since, at(30)), "the loss itself was not seen");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_task_that_is_woken_all_the_time_rests_between_two_runs() {
        let wake = Notify::new();
        let longest = Duration::from_mins(5);
        for (least, can_be_woken, passed) in [(0, true, 0), (30, true, 30), (30, false, 300)] {
            wake.notify_one();
            let began = tokio::time::Instant::now();
            let pause = Pause { least: Duration::from_secs(least), longest, can_be_woken };
            assert_eq!(pause.over(&wake).await, can_be_woken);
            // The clock of the test stands still unless all wait.
            assert_eq!(began.elapsed().as_secs(), passed);
        }
    }

    #[test]
    fn backs_off_by_doubling_up_to_a_limit() {
        let pauses = [1, 2, 3, 7, 100].map(|failures| back_off(failures).as_millis());
        assert_eq!(pauses, [250, 500, 1_000, 15_000, 15_000]);
    }
}
