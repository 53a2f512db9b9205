//! Background task: asks agents to measure the home addresses of other agents.
//!
//! What others measure to the home address of an agent is not in the agent's hands. Its own reports
//! must agree with that.

use std::collections::HashMap;

use delegation::Availability;
use model::{AgentId, UnixMillis};
use store::agents;
use store::home_times;

use crate::predictor::{Predictor, probe_limits};
use crate::runtime::outcome::Outcome;
use crate::runtime::quantity::quantity;

/// Agents that measure one home address.
const WITNESSES: usize = 12;
/// A home address is measured again after so long, also by a witness that got no answer.
const REPEAT_AFTER_MS: i64 = 7 * 86_400_000;

/// Orders the measurements that are missing or old, from agents that are ready. Agents are few, so
/// that all known times are read.
pub async fn run(predictor: &Predictor) -> Result<Outcome, anyhow::Error> {
    // Without landmarks nothing says where an agent measures from.
    if !predictor.state.has_enough_landmarks() {
        return Ok(Outcome::Idle);
    }
    let limits = probe_limits(predictor.policy.load_full().probes);
    let workers = agents::workers(&predictor.store).await?;
    let known = home_times::list(&predictor.store).await?;
    let now = predictor.clock.now();
    let measured: HashMap<(AgentId, AgentId), UnixMillis> =
        known.iter().map(|time| ((time.agent, time.witness), time.measured_at)).collect();
    let agents: Vec<AgentId> = workers.iter().map(|worker| worker.agent).collect();
    let ready: Vec<bool> = workers
        .iter()
        .map(|worker| predictor.availability(worker, &limits) == Availability::Ready)
        .collect();
    let mut due = Vec::new();
    for (index, agent) in agents.iter().enumerate() {
        for witness in witnesses(agents.len(), index) {
            let at = measured.get(&(*agent, agents[witness]));
            let is_due = at.is_none_or(|at| at.plus_ms(REPEAT_AFTER_MS) <= now);
            if is_due && ready[witness] {
                due.push((*agent, agents[witness]));
            }
        }
    }
    let ordered =
        if due.is_empty() { 0 } else { home_times::order(&predictor.store, &due, now).await? };
    if ordered == 0 {
        return Ok(Outcome::Idle);
    }
    predictor.agent_wakeups.wake(due.iter().map(|(_, witness)| *witness).collect::<Vec<_>>());
    Ok(Outcome::Done(format!("asked for {} of home addresses", quantity(ordered, "measurement"))))
}

/// The agents that measure the home address of the one at `index`, evenly spread over all.
fn witnesses(agents: usize, index: usize) -> impl Iterator<Item = usize> {
    let others = agents.saturating_sub(1);
    let step = others.div_ceil(WITNESSES).max(1);
    (1..=others).step_by(step).map(move |ahead| (index + ahead) % agents)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_is_measured_by_some_others_and_never_by_itself() {
        for agents in [0, 1, 2, 12, 13, 1_000] {
            for index in 0..agents {
                let found: Vec<usize> = witnesses(agents, index).collect();
                assert!(found.len() <= WITNESSES && !found.contains(&index));
                assert_eq!(found.is_empty(), agents < 2);
            }
        }
    }
}
