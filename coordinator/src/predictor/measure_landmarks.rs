//! Agents measure landmarks.

use model::{AgentId, Policy, Strategy};
use store::agents::{self, Worker};
use store::landmarks::{self, Due, Room};

use crate::predictor::Predictor;
use crate::predictor::availability;
use crate::predictor::probe_limits;
use crate::runtime::outcome::Outcome;
use crate::runtime::quantity::quantity;

const DAY_MS: i64 = 86_400_000;

/// Hands landmarks out to agents that are ready and have not measured them for a policy's period;
/// at once to agents that are new or moved. A few at a time, so that searches always find room, and
/// within the budgets of probes.
pub async fn run(predictor: &Predictor) -> Result<Outcome, anyhow::Error> {
    let Some(delegated) = predictor.hierarchy.current() else { return Ok(Outcome::Idle) };
    let policy = predictor.policy.load_full();
    if policy.strategy != Strategy::Predictive {
        return Ok(Outcome::Idle);
    }
    predictor.insight.spending.know(predictor, &delegated).await?;
    let workers = agents::workers(&predictor.store).await?;
    let rooms: Vec<Room> =
        workers.iter().filter_map(|worker| room(predictor, &policy, worker)).collect();
    if rooms.is_empty() {
        return Ok(Outcome::Idle);
    }
    let now = predictor.clock.now();
    let before = now.plus_ms(-DAY_MS * i64::from(policy.landmark_days));
    let due = landmarks::due(&predictor.store, &rooms, before).await?;
    let probe_limits = probe_limits(policy.probes);
    let spend = |due: &Due| {
        let subnet = delegated.hierarchy().smallest(due.address);
        predictor.insight.spending.usage(|usage| {
            let allowed = usage.allows(&probe_limits, subnet, now);
            if allowed {
                usage.record(due.agent, subnet, now);
            }
            allowed
        })
    };
    let due: Vec<Due> = due.into_iter().filter(spend).collect();
    if due.is_empty() {
        return Ok(Outcome::Idle);
    }
    let ordered = landmarks::order(&predictor.store, &due, now).await?;
    predictor.agent_wakeups.wake(due.iter().map(|due| due.agent).collect::<Vec<AgentId>>());
    Ok(Outcome::Done(format!("asked for {} of landmarks", quantity(ordered, "measurement"))))
}

/// Orders for landmarks that an agent may have at a time are a quarter of all it may have, so that
/// a search finds room.
const SHARE: u32 = 4;

fn room(predictor: &Predictor, policy: &Policy, worker: &Worker) -> Option<Room> {
    let now = predictor.clock.now();
    let seen = availability(&predictor.limits, worker, now);
    let probe_limits = probe_limits(policy.probes);
    let spending = &predictor.insight.spending;
    let seen = spending.usage(|usage| usage.availability(&probe_limits, worker.agent, seen, now));
    let most = (predictor.limits.orders_per_agent / SHARE).max(1);
    let orders = most.saturating_sub(worker.orders);
    (seen == delegation::Availability::Ready && orders > 0)
        .then_some(Room { agent: worker.agent, orders })
}
