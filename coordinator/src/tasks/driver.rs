//! Runs a background task until the coordinator stops.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use tokio::sync::Notify;

use crate::runtime::failure::chain;
use crate::runtime::state::Coordinator;
use crate::runtime::task_signals::TaskSignals;

/// What one run came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// There was nothing to do.
    Idle,
    /// Everything that could be done is done; the text says what, in a few words.
    Done(String),
    /// A batch is done and there is more: run again at once.
    More(String),
}

/// A piece of work that is always being caught up with.
pub trait BackgroundTask: Send + Sync + 'static {
    /// Its name in logs and statuses.
    const NAME: &'static str;
    /// Longest time between two runs.
    const PERIOD: Duration;
    /// Whether only the leader may run it.
    const LEADER_ONLY: bool = true;

    /// Its bell.
    fn bell(task_signals: &TaskSignals) -> &Notify;

    /// Looks at the state and does what is left to do, or a batch of it.
    fn run(
        coordinator: &Coordinator,
    ) -> impl Future<Output = Result<Outcome, anyhow::Error>> + Send;
}

/// Longest wait after failures.
const BACK_OFF_LIMIT: Duration = Duration::from_secs(15);

/// Runs it until the coordinator stops. A run that has begun is finished.
pub async fn run<R: BackgroundTask>(coordinator: Arc<Coordinator>) {
    let stop = coordinator.stop.clone();
    while !stop.is_cancelled() {
        let wait = once::<R>(&coordinator).await;
        let bell = R::bell(&coordinator.task_signals).notified();
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(wait.longest) => {}
            () = bell, if wait.may_be_poked => pass_on::<R>(&coordinator),
        }
    }
}

/// A wake-up here is meant for the coordinator that decides.
fn pass_on<R: BackgroundTask>(coordinator: &Coordinator) {
    if R::LEADER_ONLY && !coordinator.is_leader() {
        coordinator.peer_hints.poke(R::NAME);
    }
}

/// How long until the next run.
struct Wait {
    longest: Duration,
    may_be_poked: bool,
}

async fn once<R: BackgroundTask>(coordinator: &Coordinator) -> Wait {
    if R::LEADER_ONLY && !coordinator.is_leader() {
        return Wait { longest: R::PERIOD, may_be_poked: true };
    }
    // A panic would be a bug of ours; it must not end the background task for good.
    let run = AssertUnwindSafe(R::run(coordinator)).catch_unwind();
    let outcome =
        run.await.unwrap_or_else(|panic| Err(anyhow::anyhow!("it panicked: {}", words(&*panic))));
    let now = coordinator.now();
    match outcome {
        Ok(outcome) => {
            let (outcome, longest) = match outcome {
                Outcome::Idle => (None, R::PERIOD),
                Outcome::Done(outcome) => (Some(outcome), R::PERIOD),
                Outcome::More(outcome) => (Some(outcome), Duration::ZERO),
            };
            if let Some(outcome) = &outcome {
                tracing::debug!(task = R::NAME, outcome);
            }
            coordinator.statuses.went_well(R::NAME, outcome, now);
            Wait { longest, may_be_poked: true }
        }
        Err(error) => {
            let failing = coordinator.statuses.failed(R::NAME, chain(&*error), now);
            let longest = back_off(failing);
            tracing::warn!(
                task = R::NAME,
                failing,
                error = chain(&*error),
                "trying again in {longest:?}"
            );
            // TaskSignals come often; while it fails they must not make it try without pause.
            Wait { longest, may_be_poked: false }
        }
    }
}

/// What a panic said.
fn words(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("without a word")
}

/// A quarter of a second, doubled with each failure in a row.
fn back_off(failing: u32) -> Duration {
    Duration::from_millis(250)
        .saturating_mul(1 << failing.saturating_sub(1).min(10))
        .min(BACK_OFF_LIMIT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backs_off_by_doubling_up_to_a_limit() {
        let waits: Vec<u128> =
            [1, 2, 3, 7, 100].map(|failing| back_off(failing).as_millis()).to_vec();
        assert_eq!(waits, [250, 500, 1_000, 15_000, 15_000]);
    }
}
