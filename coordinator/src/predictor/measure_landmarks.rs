//! Background task: asks agents to measure landmarks.

use delegation::Availability;
use delegation::budget::ProbeLimits;
use model::{AgentId, Strategy};
use store::agents::{self, Worker};
use store::landmarks::{self, DueMeasurement, OrderAllowance};

use crate::predictor::{Predictor, probe_limits};
use crate::runtime::metrics::probes::ProbePurpose;
use crate::runtime::outcome::Outcome;
use crate::runtime::quantity::quantity;

const DAY_MS: i64 = 86_400_000;

/// Of the probes that an agent may have at the same time, one in so many may be for landmarks. The
/// rest is left to searches, for whose decisions hosts wait.
const SHARE: u32 = 4;

/// Orders probes of landmarks from ready agents that have not measured them for the period of the
/// policy; from new and moved agents at once. A few at a time, and within the probe budget.
pub async fn run(predictor: &Predictor) -> Result<Outcome, anyhow::Error> {
    let Some(delegated) = predictor.hierarchy.current() else { return Ok(Outcome::Idle) };
    let policy = predictor.policy.load_full();
    if policy.strategy != Strategy::Predictive {
        return Ok(Outcome::Idle);
    }
    predictor.state.budget.load(predictor, &delegated).await?;
    let limits = probe_limits(policy.probes);
    let workers = agents::workers(&predictor.store).await?;
    let rooms: Vec<OrderAllowance> =
        workers.iter().filter_map(|worker| room(predictor, &limits, worker)).collect();
    if rooms.is_empty() {
        return Ok(Outcome::Idle);
    }
    let now = predictor.clock.now();
    let measured_before = now.plus_ms(-DAY_MS * i64::from(policy.landmark_days));
    let mut due = landmarks::due(&predictor.store, &rooms, measured_before).await?;
    // Landmarks count against the same budget as searches, so that each probe is recorded when it
    // is allowed.
    due.retain(|due: &DueMeasurement| {
        let subnet = delegated.hierarchy().smallest(due.address);
        predictor.state.budget.usage(|usage| {
            let allowed = usage.allows(&limits, subnet, now);
            if allowed {
                usage.record(due.agent, subnet, now);
            }
            allowed
        })
    });
    if due.is_empty() {
        return Ok(Outcome::Idle);
    }
    let ordered = landmarks::order(&predictor.store, &due, now).await?;
    predictor.probe_metrics.ordered(ProbePurpose::Landmark, ordered);
    predictor.agent_wakeups.wake(due.iter().map(|due| due.agent).collect::<Vec<AgentId>>());
    Ok(Outcome::Done(format!("asked for {} of landmarks", quantity(ordered, "measurement"))))
}

fn room(predictor: &Predictor, limits: &ProbeLimits, worker: &Worker) -> Option<OrderAllowance> {
    let most = (predictor.limits.orders_per_agent / SHARE).max(1);
    let orders = most.saturating_sub(worker.orders);
    let is_ready = predictor.availability(worker, limits) == Availability::Ready;
    (is_ready && orders > 0).then_some(OrderAllowance { agent: worker.agent, orders })
}
