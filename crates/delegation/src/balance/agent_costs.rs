//! What a subnet costs where: measured where somebody measured, predicted elsewhere, and never
//! anything else.

use std::collections::BTreeMap;

use model::AgentId;

use super::AgentCost;
use crate::predictor::Posterior;
use crate::{ProbeOutcome, TrailProbe};

/// What is expected of agents that did not measure a subnet.
#[derive(Clone, Copy)]
pub enum Expectation<'b> {
    /// Nothing, because there are no landmarks yet: then a move elsewhere wants a probe of its own.
    Unknown,
    /// Round trips as places have them.
    Predicted(&'b Posterior<'b>),
    /// The subnet is near to many (anycast): as near to everybody as to those who measured it, so
    /// that balance may put it where there is room.
    Anycast,
}

/// The costs of a subnet with `load` pages a day, each page one round trip. `agents` are numbered
/// by their place in the list. Who measured is listed in any case, of the others the `predicted`
/// nearest, or all where the subnet is near to all. Who asked in vain may not crawl the subnet and
/// is not listed.
pub fn agent_costs(
    outlook: Expectation<'_>,
    trail: &[TrailProbe],
    agents: &[AgentId],
    load: u64,
    predicted: usize,
) -> Vec<AgentCost> {
    let outcomes: BTreeMap<AgentId, ProbeOutcome> =
        trail.iter().map(|asked| (asked.agent, asked.outcome)).collect();
    let numbered = || (0_u32..).zip(agents);
    let cost = |time_ms: f64| time_ms * load as f64;
    let measured = numbered().filter_map(|(number, agent)| match outcomes.get(agent)? {
        ProbeOutcome::Measured { rtt_us } => {
            Some(AgentCost::measured(number, cost(f64::from(*rtt_us) / 1000.0)))
        }
        ProbeOutcome::Pending | ProbeOutcome::Unreachable | ProbeOutcome::Expired => None,
    });
    let measured: Vec<AgentCost> = measured.collect();
    let unknown = |agent: &AgentId| {
        matches!(outcomes.get(agent), None | Some(ProbeOutcome::Pending | ProbeOutcome::Expired))
    };
    let unknown = numbered().filter(|(_, agent)| unknown(agent));
    let guesses: Vec<AgentCost> = match outlook {
        Expectation::Unknown => Vec::new(),
        Expectation::Predicted(belief) => {
            let expected = |agent: &AgentId| cost(belief.expected_ms(*agent).0.max(0.1));
            let mut guesses: Vec<AgentCost> = unknown
                .map(|(number, agent)| AgentCost::predicted(number, expected(agent)))
                .collect();
            guesses.sort_by(|a, b| a.cost.total_cmp(&b.cost));
            guesses.truncate(predicted);
            guesses
        }
        Expectation::Anycast => match median(&measured) {
            Some(cost) => unknown.map(|(number, _)| AgentCost::predicted(number, cost)).collect(),
            None => Vec::new(),
        },
    };
    [measured, guesses].concat()
}

/// The middle cost, the upper one of two.
fn median(costs: &[AgentCost]) -> Option<f64> {
    let mut costs: Vec<f64> = costs.iter().map(|cell| cell.cost).collect();
    costs.sort_by(f64::total_cmp);
    costs.get(costs.len() / 2).copied()
}
