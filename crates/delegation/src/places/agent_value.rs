//! Value of asking an agent: the probability that it is nearer than the fastest so far, and what
//! the model would learn from its answer.

use model::AgentId;

use super::distance_table::Column;
use super::posterior::{Hypothesis, Posterior};
use crate::normal;

/// Additional value of a nearer agent whose time is unknown, for each subnet that turned out to be
/// at the place: what is learned pays when more subnets follow.
const TEACHING: f32 = 0.3;
/// Subnets at a place above which nothing more is added.
const MOST_VISITS: f32 = 20.0;
/// Hypotheses below this share of the likeliest place are left out.
const NEGLIGIBLE: f32 = 3e-4;
/// Places below this share of the likeliest one do not count for the first probe.
const NEGLIGIBLE_PLACE: f32 = 0.01;

impl Posterior<'_> {
    /// Value of asking each agent, by column, when the fastest so far measured `fastest_ms`: the
    /// probability that it is nearer, more at places where its time is unknown.
    pub(super) fn values(&self, fastest_ms: f32) -> Vec<f32> {
        let mut values = vec![0.0; self.model.map.agents().len()];
        let most = self.hypotheses().iter().map(Hypothesis::total).fold(0.0, f32::max);
        let network = self.model.access.network(fastest_ms);
        for hypothesis in self.hypotheses() {
            let cells = &self.model.cells[hypothesis.place];
            let mut below = vec![0.0; values.len()];
            for (access, weight) in network.iter().zip(&hypothesis.weights) {
                if *weight < NEGLIGIBLE * most {
                    continue;
                }
                let noise = self.route_variance + access.deviation * access.deviation;
                // The agent is nearer if its network time is below that of the fastest, both from a
                // subnet with this access time.
                for (below, expected) in below.iter_mut().zip(cells.expected()) {
                    let deviation = (expected.variance + noise).sqrt();
                    *below += weight * normal::below((access.log - expected.log) / deviation);
                }
            }
            let teaching = TEACHING * cells.visits().min(MOST_VISITS);
            for ((value, below), expected) in values.iter_mut().zip(below).zip(cells.expected()) {
                // Share of the variance that measurements can remove: that of the route stays.
                let unknown = expected.variance / (expected.variance + self.route_variance);
                *value += below * (1.0 + teaching * unknown);
            }
        }
        values
    }

    /// Probability of each agent, by column, to be the nearest of those for which `is_open` holds,
    /// before anything was measured.
    pub(super) fn nearest(&self, is_open: impl Fn(Column) -> bool) -> Vec<f32> {
        let mut chances = vec![0.0; self.model.map.agents().len()];
        let most = self.hypotheses().iter().map(Hypothesis::total).fold(0.0, f32::max);
        for hypothesis in self.hypotheses() {
            let weight = hypothesis.total();
            if weight < NEGLIGIBLE_PLACE * most {
                continue;
            }
            let nearest = &self.model.nearest[hypothesis.place];
            // The chance of an agent that cannot be asked falls to the next that can.
            let stand_in = nearest.iter().find(|agent| is_open(agent.column));
            for agent in nearest {
                let taken = if is_open(agent.column) { Some(agent) } else { stand_in };
                if let Some(taken) = taken {
                    chances[taken.column] += weight * agent.chance;
                }
            }
        }
        chances
    }

    /// All agents of the map, those first that are probably the nearest of the open ones.
    pub(super) fn ranked(&self, is_open: impl Fn(AgentId) -> bool) -> Vec<AgentId> {
        let agents = self.model.agents();
        let chances = self.nearest(|column| is_open(agents[column]));
        let mut ranked: Vec<(f32, AgentId)> =
            chances.into_iter().zip(agents.iter().copied()).collect();
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        ranked.into_iter().map(|(_, agent)| agent).collect()
    }
}
