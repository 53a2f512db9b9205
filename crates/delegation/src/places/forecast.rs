//! Forecasts: what the model says of single agents, for explanations and for control probes.

use hierarchy::Hierarchy;
use model::AgentId;

use super::distance_table::Column;
use super::{PlaceModel, Posterior};
use crate::{AvailableAgents, Search, TrailProbe, normal};

impl Posterior<'_> {
    /// Probability that `agent` would measure less than `ms`; `None` for an agent that is not on
    /// the map.
    pub fn probability_below(&self, agent: AgentId, ms: f64) -> Option<f64> {
        let column = self.model.map.column(agent)?;
        let network = self.model.access.network(ms as f32);
        let mut below = 0.0;
        for hypothesis in self.hypotheses() {
            let expected = self.model.cells[hypothesis.place].expected()[column];
            for (access, weight) in network.iter().zip(&hypothesis.weights) {
                let noise = self.route_variance + access.deviation * access.deviation;
                let deviation = (expected.variance + noise).sqrt();
                below += weight * normal::below((access.log - expected.log) / deviation);
            }
        }
        Some(f64::from(below))
    }

    /// Probability that `agent` is the nearest of those that are ready and were not asked, before
    /// anything was measured; `None` for an agent that is not on the map.
    pub fn probability_nearest(
        &self,
        agent: AgentId,
        agents: &AvailableAgents,
        search: &Search<'_>,
    ) -> Option<f64> {
        let column = self.model.map.column(agent)?;
        let chances = self.nearest(|other| self.is_open(other, agents, search));
        Some(f64::from(chances[column]))
    }

    /// The agents that can be asked, those first that are probably nearest.
    fn open_agents(&self, agents: &AvailableAgents, search: &Search<'_>) -> Vec<AgentId> {
        let is_open = |column: Column| self.is_open(column, agents, search);
        let chances = self.nearest(is_open);
        let known = self.model.agents().iter().copied().enumerate();
        let mut open: Vec<(f32, AgentId)> = known
            .filter(|(column, _)| is_open(*column))
            .map(|(column, agent)| (chances[column], agent))
            .collect();
        open.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        open.into_iter().map(|(_, agent)| agent).collect()
    }

    fn is_open(&self, column: Column, agents: &AvailableAgents, search: &Search<'_>) -> bool {
        let agent = self.model.agents()[column];
        agents.is_ready(agent) && !search.has_asked(agent)
    }
}

impl PlaceModel {
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
        let posterior = self.posterior_of(hierarchy, &Search { trail: &trail, ..*search });
        posterior.open_agents(agents, search)
    }
}
