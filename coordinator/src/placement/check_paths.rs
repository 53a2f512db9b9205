//! Background task: lets agents measure the paths to their subnets that no fetch has measured
//! lately.
//!
//! A path is due some days after its last round trip, sooner while its usual round trip is learned,
//! and within an hour under suspicion (`delegation::calibration::PathComparison::next_check`).

use model::AgentId;
use store::{agents, timing_reports};

use crate::placement::Placement;
use crate::placement::incident_round::ready_agents;
use crate::runtime::metrics::probes::ProbePurpose;
use crate::runtime::outcome::Outcome;
use crate::runtime::quantity::quantity;

/// Checks of one agent in a run.
const MOST_PER_AGENT: u32 = 5;
/// Checks that have ended and are deleted in a run.
const MOST_DELETED: u32 = 10_000;
/// A path that did not answer is checked again after the first of these pauses, then after the
/// next: the address that is measured may be gone for good.
const PAUSES_MS: [i64; 3] = [3_600_000, 17 * 3_600_000, 67 * 3_600_000];

/// Orders checks from agents that are ready: awake and within reach. Their owners' rules and
/// budgets apply to these probes as to any other.
pub async fn run(placement: &Placement) -> Result<Outcome, anyhow::Error> {
    timing_reports::delete_ended_checks(&placement.store, MOST_DELETED).await?;
    let workers = agents::workers(&placement.store).await?;
    let ready: Vec<AgentId> = ready_agents(placement, &workers).into_iter().collect();
    if ready.is_empty() {
        return Ok(Outcome::Idle);
    }
    let now = placement.clock.now();
    let store = &placement.store;
    let asked =
        timing_reports::order_checks(store, &ready, MOST_PER_AGENT, now, &PAUSES_MS).await?;
    if asked.is_empty() {
        return Ok(Outcome::Idle);
    }
    let count = asked.len();
    placement.predictor.state.budget.record_others(&asked, now);
    placement.predictor.probe_metrics.ordered(ProbePurpose::Check, count as u64);
    placement.agent_wakeups.wake(asked);
    Ok(Outcome::Done(format!("asked for {} of paths", quantity(count, "check"))))
}
