//! Hosts of agents that are not heard of go to others.

use std::time::Duration;

use store::hand_overs;
use tokio::sync::Notify;

use super::{Outcome, Reconciler};
use crate::counted::counted;
use crate::events::Change;
use crate::pokes::Pokes;
use crate::state::Coordinator;

/// Ends hand-overs whose agent cannot confirm: its lease is over, so that it fetches nothing until
/// it is heard of again.
pub struct EndLeases;

/// A request that was under way when the lease ended may take so long, with a little more for the
/// answer's way, in milliseconds.
const MARGIN_MS: i64 = 120_000;

impl Reconciler for EndLeases {
    const NAME: &'static str = "end_leases";
    const PERIOD: Duration = Duration::from_secs(10);

    fn bell(pokes: &Pokes) -> &Notify {
        &pokes.end_leases
    }

    async fn run(coordinator: &Coordinator) -> Result<Outcome, anyhow::Error> {
        let now = coordinator.now();
        let lease_ms = 1_000 * i64::from(coordinator.config.limits.lease_s);
        let lapsed =
            hand_overs::lapse(&coordinator.store, now.plus_ms(-lease_ms - MARGIN_MS), now).await?;
        if lapsed == 0 {
            return Ok(Outcome::Idle);
        }
        coordinator.pokes.place_hosts.notify_one();
        coordinator.events.tell(Change::Delegations);
        Ok(Outcome::Done(format!(
            "took {} from agents that are not heard of",
            counted(lapsed, "host")
        )))
    }
}
