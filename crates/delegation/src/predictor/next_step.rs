//! Steps of the predictive search.

use hierarchy::Hierarchy;
use model::{AgentId, Phase, Reason};

use super::ranking::OpenAgents;
use super::{Clusters, Posterior, Prior};
use crate::search::{StopRule, proceed};
use crate::{AvailableAgents, Candidate, DelegationTable, Policy, Search, Step, TrailProbe};

/// The fitted model of one generation of the hierarchy.
#[derive(Debug, Clone, Copy)]
pub struct Predictor<'k> {
    /// Fitted to the times of the landmarks.
    pub clusters: &'k Clusters,
    /// Learned from the landmarks and from decided searches.
    pub prior: &'k Prior,
    /// An agent is worth a probe when it is nearer than the fastest so far with at least this
    /// probability.
    pub min_probability: f64,
}

/// Default of [`Predictor::min_probability`]: two probes in thirty-one that find a nearer agent are
/// worth the other twenty-nine.
pub const MIN_PROBABILITY: f64 = 2.0 / 31.0;

impl<'k> Predictor<'k> {
    /// The posterior of the subnet of `search` after the probes so far.
    pub fn posterior(&self, hierarchy: &Hierarchy, search: &Search<'_>) -> Posterior<'k> {
        let prior = self.prior.probabilities(hierarchy, search.subnet);
        let mut posterior = Posterior::new(self.clusters, &prior);
        for measured in search.trail.iter().filter_map(TrailProbe::measurement) {
            posterior.observe(measured.agent, f64::from(measured.rtt_us) / 1000.0);
        }
        posterior
    }

    /// The ready agents that may be nearest by what agents other than `agent` measured, most likely
    /// first, without those that the search has asked. They are the control agents for a report of
    /// `agent`.
    pub fn nearest_without(
        &self,
        hierarchy: &Hierarchy,
        agents: &AvailableAgents,
        search: &Search<'_>,
        agent: AgentId,
    ) -> Vec<AgentId> {
        let other = |probe: &&TrailProbe| probe.agent != agent;
        let trail: Vec<TrailProbe> = search.trail.iter().filter(other).copied().collect();
        let others = Search { trail: &trail, ..*search };
        let posterior = self.posterior(hierarchy, &others);
        let was_asked = |agent: AgentId| search.trail.iter().any(|probe| probe.agent == agent);
        let open_agents = OpenAgents::new(agents, self.clusters, &others);
        let nearest = posterior.nearest(&open_agents).map(|ranked| ranked.agent);
        nearest.filter(|agent| agents.is_ready(*agent) && !was_asked(*agent)).collect()
    }
}

/// The next step of `search`, computed from its trail alone like [`crate::next_step`], with the
/// posterior that it follows from. Before there are landmarks the step is that of
/// [`crate::next_step`], without a posterior.
pub fn next_step<'k>(
    hierarchy: &Hierarchy,
    delegation_table: &DelegationTable,
    agents: &AvailableAgents,
    policy: &Policy,
    predictor: &Predictor<'k>,
    search: &Search<'_>,
) -> (Step, Option<Posterior<'k>>) {
    if predictor.clusters.is_empty() {
        let step = crate::next_step(hierarchy, delegation_table, agents, policy, search);
        return (step, None);
    }
    let posterior = predictor.posterior(hierarchy, search);
    let open_agents = OpenAgents::new(agents, predictor.clusters, search);
    let was_asked = |agent: &AgentId| search.trail.iter().any(|probe| probe.agent == *agent);
    let candidate = |agent| Candidate { agent, phase: Phase::Predicted, level: search.subnet };
    let otherwise = Reason::Predicted;
    let Some(fastest) = search.fastest(agents) else {
        // Nothing is measured yet, so every agent is worth a probe, the unlikely ones last.
        let likely = posterior.nearest(&open_agents).map(|ranked| ranked.agent);
        let order = likely.chain(agents.agents());
        let order = order.filter(|agent| !was_asked(agent)).map(candidate);
        let rule = StopRule { satisfied: None, otherwise };
        return (proceed(agents, policy, search, rule, order), Some(posterior));
    };
    let fastest_ms = f64::from(fastest.rtt_us) / 1000.0;
    let mut nearer =
        posterior.nearer(fastest_ms, predictor.min_probability, open_agents).peekable();
    // An agent that was asked and has not answered keeps the search open: its answer may be the
    // nearest.
    let satisfied = nearer.peek().is_none().then_some(Reason::Predicted);
    let order = nearer.map(|ranked| ranked.agent).filter(|agent| !was_asked(agent)).map(candidate);
    let rule = StopRule { satisfied, otherwise };
    (proceed(agents, policy, search, rule, order), Some(posterior))
}
