//! Who may be nearer than the best so far.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use model::AgentId;

use super::{Clusters, Posterior, normal};
use crate::{AvailableAgents, ProbeOutcome, Search};

/// Once an agent gains less than this from a cluster, those behind it are not considered there.
const SLIGHT: f32 = 1e-3;
/// Agents that are looked at together.
const LANES: usize = 16;

/// Who can still be chosen: everybody on the roster who has not answered.
#[derive(Debug, Clone)]
pub(super) struct OpenAgents<'f> {
    roster: &'f AvailableAgents,
    search: &'f Search<'f>,
    /// Whether the roster and the clusters have the same agents, as mostly: then nobody has to be
    /// looked up.
    same: bool,
    /// Agents that no landmark tells anything of.
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
        roster: &'f AvailableAgents,
        clusters: &Clusters,
        search: &'f Search<'f>,
    ) -> Self {
        let mut open_agents =
            Self { roster, search, same: roster.is(clusters.agents()), unmeasured: Vec::new() };
        if !open_agents.same {
            let unmeasured = roster.unmeasured(clusters.agents());
            open_agents.unmeasured =
                unmeasured.filter(|agent| !open_agents.has_answered(*agent)).collect();
        }
        open_agents
    }

    fn is_open(&self, agent: AgentId) -> bool {
        (self.same || self.roster.knows(agent)) && !self.has_answered(agent)
    }

    fn has_answered(&self, agent: AgentId) -> bool {
        let mut trail = self.search.trail.iter();
        trail.any(|asked| asked.agent == agent && asked.outcome != ProbeOutcome::Pending)
    }
}

impl Posterior<'_> {
    /// Who in the open_agents would measure less than `best_ms` with a probability of at least `least`,
    /// the likeliest first. Looks at the nearest agents of the likely clusters only, so that a
    /// thousand agents cost little more than a dozen; and puts them in order only as far as
    /// somebody asks, because a step wants one of them.
    pub(super) fn nearer<'f>(
        &self,
        best_ms: f64,
        least: f64,
        open_agents: OpenAgents<'f>,
    ) -> impl Iterator<Item = RankedAgent> + use<'f> {
        let best_ms = best_ms as f32;
        let mut of_strangers = self.background() as f32 * self.clusters.background().below(best_ms);
        let mut below: Vec<f32> =
            self.clusters.background_shares().iter().map(|share| share * of_strangers).collect();
        for (cluster, probability, access) in self.likely() {
            let Some(times) = self.clusters.cluster_times().get(cluster) else { continue };
            let probability = probability as f32;
            let headway = |expected| access.headway(expected, best_ms);
            times.add((probability, SLIGHT), headway, &mut below);
            if !(times.unmeasured.is_empty() && open_agents.unmeasured.is_empty()) {
                let unknown = probability * normal::below(headway(times.unmeasured()));
                of_strangers += unknown;
                for column in &times.unmeasured {
                    below[*column as usize] += unknown;
                }
            }
        }
        let ranked = self.ranked(&below, (&open_agents.unmeasured, of_strangers), least as f32);
        ranked.filter(move |ranked| open_agents.is_open(ranked.agent))
    }

    /// Who in the open_agents may be the nearest of them, the likeliest first.
    pub(super) fn nearest(&self, open_agents: &OpenAgents<'_>) -> Ranking {
        let mut nearest = vec![0.0; self.clusters.agents().len()];
        let mut of_strangers = 0.0;
        for (cluster, probability, _) in self.likely() {
            let Some(times) = self.clusters.cluster_times().get(cluster) else { continue };
            let probability = probability as f32;
            let open = |column: u32| open_agents.is_open(self.clusters.agents()[column as usize]);
            let known = times.nearest().find(|(column, _)| open(*column));
            let unknown = times.unmeasured.iter().copied().find(|column| open(*column));
            match (known, unknown) {
                (Some((column, time_ms)), _) if time_ms <= times.mean_ms => {
                    nearest[column as usize] += probability;
                }
                (_, Some(column)) => nearest[column as usize] += probability,
                _ if !open_agents.unmeasured.is_empty() => of_strangers += probability,
                (Some((column, _)), None) => nearest[column as usize] += probability,
                (None, None) => {}
            }
        }
        self.ranked(&nearest, (&open_agents.unmeasured, of_strangers), f32::MIN_POSITIVE)
    }

    /// Those with at least this probability, the likeliest first; of equals the oldest.
    fn ranked(
        &self,
        probabilities: &[f32],
        (unmeasured, of_strangers): (&[AgentId], f32),
        least: f32,
    ) -> Ranking {
        let mut worth = Vec::new();
        let mut take = |agents: &[AgentId], probabilities: &[f32]| {
            let both =
                agents.iter().zip(probabilities).filter(|(_, probability)| **probability >= least);
            worth.extend(both.map(|(agent, probability)| RankedAgent {
                agent: *agent,
                probability: *probability,
            }));
        };
        let (agents, agents_left) = self.clusters.agents().as_chunks::<LANES>();
        let (probabilities, chances_left) = probabilities.as_chunks::<LANES>();
        for (agents, probabilities) in agents.iter().zip(probabilities) {
            // Most are not worth it, which is seen for several at a time.
            if probabilities.iter().map(|probability| u8::from(*probability >= least)).sum::<u8>()
                > 0
            {
                take(agents, probabilities);
            }
        }
        take(agents_left, chances_left);
        if of_strangers >= least {
            worth.extend(
                unmeasured
                    .iter()
                    .map(|agent| RankedAgent { agent: *agent, probability: of_strangers }),
            );
        }
        Ranking(worth.into())
    }
}

/// Rivals, put in order as far as somebody asks.
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
        /// The quick way leaves out only what is far or unlikely.
        #[test]
        fn the_quick_way_agrees_with_the_long_one(
            times in prop::collection::vec(prop::collection::vec(5.0..300.0, 6), 1..12),
            probes in prop::collection::vec((1_i64..8, 5.0..300.0), 1..4),
            best in 5.0..200.0,
        ) {
            let clusters = clusters(&times);
            // Of each cluster, and of being background.
            let prior = vec![1.0 / (clusters.len() + 1) as f64; clusters.len() + 1];
            let mut posterior = Posterior::new(&clusters, &prior);
            for (number, rtt_ms) in probes {
                posterior.observe(AgentId::new(number), rtt_ms);
            }
            let agents: Vec<AgentId> = (1..8).map(AgentId::new).collect();
            let roster: AvailableAgents = agents.iter().map(|agent| (*agent, Availability::Ready)).collect();
            let search = Search { subnet: SubnetId::new(0), trail: &[], provisional: None, waited_ms: 0 };
            let long = posterior.probabilities_below(best, &agents);
            let quick: Vec<RankedAgent> = posterior.nearer(best, 0.0, OpenAgents::new(&roster, &clusters, &search)).collect();
            prop_assert_eq!(quick.len(), 7);
            prop_assert!(quick.is_sorted_by(|a, b| a.probability >= b.probability));
            for RankedAgent { agent, probability } in quick {
                prop_assert!((f64::from(probability) - long[agent.get() as usize - 1]).abs() < 0.01, "{agent} {probability} {long:?}");
            }
        }
    }
}
