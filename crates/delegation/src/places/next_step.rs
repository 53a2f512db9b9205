//! Steps of the search by places.

use hierarchy::Hierarchy;
use model::{AgentId, Phase, Policy, Reason};

use super::forecast::is_open;
use super::{Levels, PlaceModel, Posterior};
use crate::search::{StopRule, proceed};
use crate::{AvailableAgents, Candidate, Search, Step};

/// Least value of a probe: it finds a nearer agent in at least six of a hundred cases, or what is
/// learned from it is worth as much.
const MIN_VALUE: f32 = 0.065;
/// The same on a map of springs, where chances of about a tenth come true half as often.
const MIN_VALUE_ON_SPRINGS: f32 = 0.1;

impl PlaceModel {
    /// The posterior of the subnet of `search` after the probes so far.
    pub fn posterior_of(&self, hierarchy: &Hierarchy, search: &Search<'_>) -> Posterior<'_> {
        let mut posterior = self.posterior(Levels::of(hierarchy, search.subnet));
        for probe in search.trail {
            if let Some(rtt_ms) = probe.rtt_ms() {
                posterior.observe(probe.agent, rtt_ms);
            }
        }
        posterior
    }
}

/// The next step of `search`, computed from its trail and the model alone.
pub fn next_step<'m>(
    hierarchy: &Hierarchy,
    agents: &AvailableAgents,
    policy: &Policy,
    model: &'m PlaceModel,
    search: &Search<'_>,
) -> (Step, Posterior<'m>) {
    let posterior = model.posterior_of(hierarchy, search);
    let candidate = |agent| Candidate { agent, phase: Phase::Predicted, level: search.subnet };
    let otherwise = Reason::Predicted;
    let fastest = search.fastest(agents);
    let (ranked, satisfied) = match fastest {
        Some(fastest) => {
            let ranked = worth_asking(&posterior, agents, search, fastest.rtt_us as f32 / 1000.0);
            // An agent that was asked and has not answered keeps the search open: its answer may be
            // the nearest.
            let satisfied = ranked.is_empty().then_some(Reason::Predicted);
            (ranked, satisfied)
        }
        // Nothing is measured yet, so every agent is worth a probe, the unlikely ones last.
        None => (likeliest(&posterior, agents, search), None),
    };
    // An agent that is certainly farther is never asked, so that nothing would end the wait for it.
    let holder = search.holder.filter(|holder| ranked.contains(holder));
    let order = ranked.into_iter().filter(|agent| !search.has_asked(*agent)).map(candidate);
    let rule = StopRule { satisfied, otherwise, holder };
    let step = proceed(agents, policy, search, rule, order);
    (step, posterior)
}

/// The agents without an answer whose value is large enough, most valuable first. On a globe,
/// agents without a known position come last, if they are ready, because it cannot be predicted
/// what they would measure.
fn worth_asking(
    posterior: &Posterior<'_>,
    agents: &AvailableAgents,
    search: &Search<'_>,
    fastest_ms: f32,
) -> Vec<AgentId> {
    let values = posterior.values(fastest_ms);
    let has_globe = !posterior.model.positions.is_empty();
    let least = if has_globe { MIN_VALUE } else { MIN_VALUE_ON_SPRINGS };
    let columns = posterior.model.agents().iter().zip(values);
    let mut ranked: Vec<(f32, AgentId)> = columns
        .map(|(agent, value)| (value, *agent))
        .filter(|(value, agent)| *value >= least && agents.knows(*agent))
        .filter(|(_, agent)| !search.has_answered(*agent))
        .collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    // An agent that was asked keeps the search open, also while it has too many other probes.
    let may_answer = |agent| agents.is_ready(agent) || search.has_asked(agent);
    let is_open = |agent: &AgentId| has_globe && may_answer(*agent) && !search.has_answered(*agent);
    let others = beside_map(posterior.model.agents(), agents).filter(is_open);
    ranked.into_iter().map(|(_, agent)| agent).chain(others).collect()
}

/// All agents, those first that are probably nearest.
fn likeliest(
    posterior: &Posterior<'_>,
    agents: &AvailableAgents,
    search: &Search<'_>,
) -> Vec<AgentId> {
    let on_map = posterior.ranked(is_open(agents, search));
    let others = beside_map(posterior.model.agents(), agents);
    on_map.into_iter().filter(|agent| agents.knows(*agent)).chain(others).collect()
}

/// The agents that are not on the map of these.
fn beside_map<'a>(
    on_map: &'a [AgentId],
    agents: &'a AvailableAgents,
) -> impl Iterator<Item = AgentId> + 'a {
    agents.agents().filter(|agent| on_map.binary_search(agent).is_err())
}
