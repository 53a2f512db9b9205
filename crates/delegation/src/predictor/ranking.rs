//! Ranking of the agents by the probability that they are nearer than the fastest so far.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use model::AgentId;

use super::{Clusters, Posterior};
use crate::{AvailableAgents, ProbeOutcome, Search, normal};

/// At each cluster, agents behind the first that gains less than this are left out.
const NEGLIGIBLE_GAIN: f32 = 1e-3;

/// The agents that can still be chosen: all available ones that have not answered the search.
#[derive(Debug, Clone)]
pub(super) struct OpenAgents<'f> {
    available: &'f AvailableAgents,
    search: &'f Search<'f>,
    /// Whether exactly the available agents have a column, as is usual: then none has to be looked
    /// up.
    all_have_columns: bool,
    /// Open agents that have measured no landmark.
    unmeasured: Vec<AgentId>,
}

/// An agent with the probability that it is nearer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct RankedAgent {
    pub(super) agent: AgentId,
    pub(super) probability: f32,
}

impl<'f> OpenAgents<'f> {
    pub(super) fn new(
        available: &'f AvailableAgents,
        clusters: &Clusters,
        search: &'f Search<'f>,
    ) -> Self {
        let columns = clusters.agents();
        let all_have_columns = available.agents().eq(columns.iter().copied());
        let mut open = Self { available, search, all_have_columns, unmeasured: Vec::new() };
        if !all_have_columns {
            let others = available.agents().filter(|agent| columns.binary_search(agent).is_err());
            open.unmeasured = others.filter(|agent| !open.has_answered(*agent)).collect();
        }
        open
    }

    fn is_open(&self, agent: AgentId) -> bool {
        (self.all_have_columns || self.available.knows(agent)) && !self.has_answered(agent)
    }

    fn has_answered(&self, agent: AgentId) -> bool {
        let mut trail = self.search.trail.iter();
        trail.any(|probe| probe.agent == agent && probe.outcome != ProbeOutcome::Pending)
    }
}

impl Posterior<'_> {
    /// The open agents that would measure less than `fastest_ms` with a probability of at least
    /// `min_probability`, most likely first.
    pub(super) fn nearer<'f>(
        &self,
        fastest_ms: f64,
        min_probability: f64,
        open: OpenAgents<'f>,
    ) -> impl Iterator<Item = RankedAgent> + use<'f> {
        let fastest_ms = fastest_ms as f32;
        let background = self.clusters.background().below(fastest_ms);
        // Of an agent that has measured no landmark all clusters say the same.
        let mut of_unmeasured = self.background() as f32 * background;
        let mut by_column: Vec<f32> =
            self.clusters.background_shares().iter().map(|share| share * of_unmeasured).collect();
        for (cluster, probability, access) in self.likely_clusters() {
            let Some(times) = self.clusters.cluster_times().get(cluster) else { continue };
            let probability = probability as f32;
            let deviations = |expected| access.deviations_below(expected, fastest_ms);
            times.add_nearer(probability, NEGLIGIBLE_GAIN, deviations, &mut by_column);
            let unmeasured = probability * normal::below(deviations(times.unmeasured()));
            of_unmeasured += unmeasured;
            for column in &times.unmeasured {
                by_column[*column as usize] += unmeasured;
            }
        }
        let ranking =
            self.ranking(&by_column, &open.unmeasured, of_unmeasured, min_probability as f32);
        ranking.filter(move |ranked| open.is_open(ranked.agent))
    }

    /// The open agents that may be the nearest of all, most likely first.
    pub(super) fn nearest(&self, open: &OpenAgents<'_>) -> Ranking {
        let mut by_column = vec![0.0; self.clusters.agents().len()];
        let mut of_unmeasured = 0.0;
        for (cluster, probability, _) in self.likely_clusters() {
            let Some(times) = self.clusters.cluster_times().get(cluster) else { continue };
            let probability = probability as f32;
            let is_open = |column: u32| open.is_open(self.clusters.agents()[column as usize]);
            let measured = times.nearest().find(|(column, _)| is_open(*column));
            let unmeasured = times.unmeasured.iter().find(|column| is_open(**column));
            // An agent that has measured nothing here counts with the mean of the others: it is
            // nearer than a measured one that is beyond the mean.
            match (measured, unmeasured) {
                (Some((column, time_ms)), _) if time_ms <= times.mean_ms => {
                    by_column[column as usize] += probability;
                }
                (_, Some(column)) => by_column[*column as usize] += probability,
                _ if !open.unmeasured.is_empty() => of_unmeasured += probability,
                (Some((column, _)), None) => by_column[column as usize] += probability,
                (None, None) => {}
            }
        }
        self.ranking(&by_column, &open.unmeasured, of_unmeasured, f32::MIN_POSITIVE)
    }

    /// The agents with at least this probability, most likely first; of equal ones the oldest.
    fn ranking(
        &self,
        by_column: &[f32],
        unmeasured: &[AgentId],
        of_unmeasured: f32,
        min_probability: f32,
    ) -> Ranking {
        let measured = self.clusters.agents().iter().zip(by_column.iter().copied());
        let others = unmeasured.iter().map(|agent| (agent, of_unmeasured));
        let all = measured.chain(others).filter(|(_, probability)| *probability >= min_probability);
        let ranked = all.map(|(agent, probability)| RankedAgent { agent: *agent, probability });
        Ranking(ranked.collect())
    }
}

/// Agents sorted as far as they are read, because a step reads one of them.
pub(super) struct Ranking(BinaryHeap<RankedAgent>);

impl Iterator for Ranking {
    type Item = RankedAgent;

    fn next(&mut self) -> Option<RankedAgent> {
        self.0.pop()
    }
}

impl Eq for RankedAgent {}

impl Ord for RankedAgent {
    fn cmp(&self, other: &Self) -> Ordering {
        self.probability.total_cmp(&other.probability).then(other.agent.cmp(&self.agent))
    }
}

impl PartialOrd for RankedAgent {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use hierarchy::SubnetId;
    use proptest::prelude::*;

    use super::super::Landmark;
    use super::*;
    use crate::Availability;

    /// Six agents, the last of which measured half of the landmarks; a seventh measured none.
    fn clusters(times: &[Vec<f64>]) -> Clusters {
        let landmark = |(number, row): (usize, &Vec<f64>)| {
            let known = row.iter().enumerate().filter(|(agent, _)| *agent < 5 || number % 2 == 0);
            let times_ms = known
                .map(|(agent, time)| (AgentId::new(i64::from(agent as u32) + 1), *time))
                .collect();
            Landmark { subnet: SubnetId::new(number as u32), times_ms }
        };
        Clusters::fit(&times.iter().enumerate().map(landmark).collect::<Vec<_>>())
    }

    proptest! {
        /// The ranking leaves out only what is far or unlikely.
        #[test]
        fn the_ranking_agrees_with_the_full_computation(
            times in prop::collection::vec(prop::collection::vec(5.0..300.0, 6), 1..12),
            probes in prop::collection::vec((1_i64..8, 5.0..300.0), 1..4),
            best in 5.0..200.0,
        ) {
            let clusters = clusters(&times);
            // One for each cluster and one for the background cluster.
            let prior = vec![1.0 / (clusters.len() + 1) as f64; clusters.len() + 1];
            let mut posterior = Posterior::new(&clusters, &prior);
            for (number, rtt_ms) in probes {
                posterior.observe(AgentId::new(number), rtt_ms);
            }
            let agents: Vec<AgentId> = (1..8).map(AgentId::new).collect();
            let ready: AvailableAgents =
                agents.iter().map(|agent| (*agent, Availability::Ready)).collect();
            let search =
                Search { subnet: SubnetId::new(0), trail: &[], provisional: None, waited_ms: 0 };
            let full = posterior.probabilities_below(best, &agents);
            let ranked: Vec<RankedAgent> =
                posterior.nearer(best, 0.0, OpenAgents::new(&ready, &clusters, &search)).collect();
            prop_assert_eq!(ranked.len(), 7);
            prop_assert!(ranked.is_sorted_by(|a, b| a.probability >= b.probability));
            for RankedAgent { agent, probability } in ranked {
                prop_assert!(
                    (f64::from(probability) - full[agent.get() as usize - 1]).abs() < 0.01,
                    "{agent} {probability} {full:?}"
                );
            }
        }
    }
}
