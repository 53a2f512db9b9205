//! Hosts of agents that are not heard of go to others.

use std::time::Duration;

use store::handovers;
use tokio::sync::Notify;

use crate::runtime::counted::counted;
use crate::runtime::events::Change;
use crate::runtime::state::Coordinator;
use crate::runtime::task_signals::TaskSignals;
use crate::tasks::{BackgroundTask, Outcome};

/// Ends hand-overs whose agent cannot confirm: its lease is over, so that it fetches nothing until
/// it is heard of again.
pub struct EndLeases;

/// A request that was under way when the lease ended may take so long, with a little more for the
/// answer's way, in milliseconds.
const MARGIN_MS: i64 = 120_000;

impl BackgroundTask for EndLeases {
    const NAME: &'static str = "end_leases";
    const PERIOD: Duration = Duration::from_secs(10);

    fn bell(task_signals: &TaskSignals) -> &Notify {
        &task_signals.end_leases
    }

    async fn run(coordinator: &Coordinator) -> Result<Outcome, anyhow::Error> {
        let now = coordinator.now();
        let lease_ms = 1_000 * i64::from(coordinator.config.limits.lease_s);
        let lapsed =
            handovers::lapse(&coordinator.store, now.plus_ms(-lease_ms - MARGIN_MS), now).await?;
        if lapsed == 0 {
            return Ok(Outcome::Idle);
        }
        coordinator.task_signals.place_hosts.notify_one();
        coordinator.events.tell(Change::Delegations);
        Ok(Outcome::Done(format!(
            "took {} from agents that are not heard of",
            counted(lapsed, "host")
        )))
    }
}
