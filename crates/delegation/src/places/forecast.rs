//! Forecasts: what the model says of single agents, for explanations and for control probes.

use hierarchy::Hierarchy;
use model::AgentId;

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
        let open = is_open(agents, search);
        let chances = self.nearest(|column| open(self.model.agents()[column]));
        Some(f64::from(chances[column]))
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
        let open = is_open(agents, search);
        posterior.ranked(&open).into_iter().filter(|agent| open(*agent)).collect()
    }
}

/// Whether an agent is ready and was not asked.
pub(super) fn is_open(agents: &AvailableAgents, search: &Search<'_>) -> impl Fn(AgentId) -> bool {
    move |agent| agents.is_ready(agent) && !search.has_asked(agent)
}
