//! Agents measure landmarks.

use model::{AgentId, Policy, Strategy};
use store::agents::{self, Worker};
use store::landmarks::{self, Due, Room};

use crate::predictor::probe_limits;
use crate::runtime::outcome::Outcome;
use crate::runtime::quantity::quantity;
use crate::runtime::state::Coordinator;
use crate::search::walk::availability;

const DAY_MS: i64 = 86_400_000;

/// Hands landmarks out to agents that are ready and have not measured them for a policy's period;
/// at once to agents that are new or moved. A few at a time, so that searches always find room, and
/// within the budgets of probes.
pub async fn run(coordinator: &Coordinator) -> Result<Outcome, anyhow::Error> {
    let Some(delegated) = coordinator.delegated() else { return Ok(Outcome::Idle) };
    let policy = coordinator.policy.load_full();
    if policy.strategy != Strategy::Predictive {
        return Ok(Outcome::Idle);
    }
    coordinator.insight.spending.know(coordinator, &delegated).await?;
    let workers = agents::workers(&coordinator.store).await?;
    let rooms: Vec<Room> =
        workers.iter().filter_map(|worker| room(coordinator, &policy, worker)).collect();
    if rooms.is_empty() {
        return Ok(Outcome::Idle);
    }
    let now = coordinator.now();
    let before = now.plus_ms(-DAY_MS * i64::from(policy.landmark_days));
    let due = landmarks::due(&coordinator.store, &rooms, before).await?;
    let probe_limits = probe_limits(policy.probes);
    let spend = |due: &Due| {
        let subnet = delegated.hierarchy().smallest(due.address);
        coordinator.insight.spending.usage(|usage| {
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
    let ordered = landmarks::order(&coordinator.store, &due, now).await?;
    coordinator.agent_wakeups.wake(due.iter().map(|due| due.agent).collect::<Vec<AgentId>>());
    Ok(Outcome::Done(format!("asked for {} of landmarks", quantity(ordered, "measurement"))))
}

/// Orders for landmarks that an agent may have at a time are a quarter of all it may have, so that
/// a search finds room.
const SHARE: u32 = 4;

fn room(coordinator: &Coordinator, policy: &Policy, worker: &Worker) -> Option<Room> {
    let now = coordinator.now();
    let seen = availability(coordinator, worker);
    let probe_limits = probe_limits(policy.probes);
    let spending = &coordinator.insight.spending;
    let seen = spending.usage(|usage| usage.availability(&probe_limits, worker.agent, seen, now));
    let most = (coordinator.config.limits.orders_per_agent / SHARE).max(1);
    let orders = most.saturating_sub(worker.orders);
    (seen == delegation::Availability::Ready && orders > 0)
        .then_some(Room { agent: worker.agent, orders })
}
