//! Searches take their next step.

use std::time::Duration;

use protocol::SearchId;
use store::searches::{self, Look, Which};
use tokio::sync::Notify;

use crate::runtime::state::Coordinator;
use crate::runtime::task_signals::TaskSignals;
use crate::search::walk::Walk;
use crate::tasks::{BackgroundTask, Outcome};

/// Drives the searches for subnets that nobody crawls yet: asks the next agent, or decides.
pub struct DriveSearches;

/// Searches read at once.
const BATCH: u32 = 1_024;

impl BackgroundTask for DriveSearches {
    const NAME: &'static str = "drive_searches";
    const PERIOD: Duration = Duration::from_secs(2);

    fn bell(task_signals: &TaskSignals) -> &Notify {
        &task_signals.drive_searches
    }

    async fn run(coordinator: &Coordinator) -> Result<Outcome, anyhow::Error> {
        drive(coordinator, Which::Urgent).await
    }
}

/// Goes on with searches though somebody crawls their subnets for the time being: an agent that
/// slept may be nearer.
pub struct ImproveDelegations;

impl BackgroundTask for ImproveDelegations {
    const NAME: &'static str = "improve_delegations";
    const PERIOD: Duration = Duration::from_secs(15);

    fn bell(task_signals: &TaskSignals) -> &Notify {
        &task_signals.improve_delegations
    }

    async fn run(coordinator: &Coordinator) -> Result<Outcome, anyhow::Error> {
        drive(coordinator, Which::Provisional).await
    }
}

async fn drive(coordinator: &Coordinator, which: Which) -> Result<Outcome, anyhow::Error> {
    let Some(delegated) = coordinator.delegated() else { return Ok(Outcome::Idle) };
    let mut walk = Walk::begin(coordinator, delegated).await?;
    let look = look(coordinator, which);
    let after = |search| searches::going_on(&coordinator.store, look, search, BATCH);
    let mut batch = after(SearchId::new(0)).await?;
    while let Some(last) = batch.last() {
        // Postgres reads the next ones while these are thought out.
        let (next, walked) = tokio::join!(after(last.id), walk.over(&batch));
        walked?;
        batch = next?;
    }
    Ok(walk.end().map_or(Outcome::Idle, Outcome::Done))
}

fn look(coordinator: &Coordinator, which: Which) -> Look {
    let policy = coordinator.policy.load();
    let overdue = coordinator.now().plus_ms(-i64::from(policy.patience_ms));
    Look { which, pending: policy.parallel, overdue }
}
