//! Costs of a subnet at each agent: measured where an agent measured, predicted where the model
//! can, unknown otherwise.

use std::collections::BTreeMap;

use model::AgentId;

use super::AgentCost;
use crate::places::Posterior;
use crate::{ProbeOutcome, TrailProbe};

/// What is expected of agents that have not measured a subnet.
#[derive(Clone, Copy)]
pub enum Expectation<'b> {
    /// The agents' places are unknown, so that only measured costs are known.
    Unknown,
    /// The expected round trip under this posterior.
    Predicted(&'b Posterior<'b>),
    /// The subnet is anycast. It is as near to every agent as to those that measured it, so balance
    /// may give it to any agent that has room.
    Anycast,
}

/// The costs of a subnet with `load` pages a day, each page one round trip; an agent's number is
/// its index in `agents`.
///
/// Agents that measured are always listed. Of the others that `may_be_asked` to measure it, the
/// `predicted` nearest are listed, or all of them for an anycast subnet. Agents that got no answer
/// may not crawl the subnet and are not listed.
pub fn agent_costs(
    expectation: Expectation<'_>,
    trail: &[TrailProbe],
    agents: &[AgentId],
    load: u64,
    predicted: usize,
    may_be_asked: impl Fn(AgentId) -> bool,
) -> Vec<AgentCost> {
    let probes: BTreeMap<AgentId, &TrailProbe> =
        trail.iter().map(|probe| (probe.agent, probe)).collect();
    let numbered = || (0_u32..).zip(agents);
    let cost = |time_ms: f64| time_ms * load as f64;
    let measured = numbered().filter_map(|(number, agent)| {
        Some(AgentCost::measured(number, cost(probes.get(agent)?.rtt_ms()?)))
    });
    let measured: Vec<AgentCost> = measured.collect();
    let is_unknown = |agent: &AgentId| {
        let outcome = probes.get(agent).map(|probe| probe.outcome);
        matches!(outcome, None | Some(ProbeOutcome::Pending | ProbeOutcome::Expired))
    };
    let unknown = numbered().filter(|(_, agent)| is_unknown(agent));
    let expected: Vec<AgentCost> = match expectation {
        Expectation::Unknown => Vec::new(),
        Expectation::Predicted(posterior) => {
            let expected = |(number, agent): (u32, &AgentId)| {
                let (time_ms, _) = posterior.expected_ms(*agent)?;
                Some(AgentCost::predicted(number, cost(time_ms.max(0.1))))
            };
            let mut costs: Vec<AgentCost> = unknown.filter_map(expected).collect();
            costs.sort_by(|a, b| a.cost.total_cmp(&b.cost));
            // Agents that are away must not take the places of others. To check an agent takes
            // longer than to sort it, so agents are sorted first, and only the cheapest are
            // checked.
            let candidates = costs.into_iter().filter(|cost| may_be_asked(agents[cost.index()]));
            candidates.take(predicted).collect()
        }
        Expectation::Anycast => match median(&measured) {
            Some(cost) => unknown
                .filter(|(_, agent)| may_be_asked(**agent))
                .map(|(number, _)| AgentCost::predicted(number, cost))
                .collect(),
            None => Vec::new(),
        },
    };
    [measured, expected].concat()
}

/// The median cost, the upper one of two.
fn median(costs: &[AgentCost]) -> Option<f64> {
    let mut sorted: Vec<f64> = costs.iter().map(|cost| cost.cost).collect();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied()
}
