//! Where a subnet may be, and how far it then is from everybody.

use model::AgentId;

use super::access_time::AccessTime;
use super::cluster_times::ClusterTimes;
use super::clusters::ExpectedTime;
use super::ranking::OpenAgents;
use super::{ACCESS_MS, Cluster, Clusters, normal};
use crate::{AvailableAgents, Search};

/// What is believed of one subnet: the probability of each cluster and, per cluster, the access time that
/// the probes imply; and the probability that it is at none of them.
///
/// Each probe multiplies the probability of every cluster by how well it explains the round trip, with
/// heavy tails (Student's *t*), because a single strange measurement must not settle the matter.
/// The access time is followed per cluster by a Kalman filter of one variable.
#[derive(Debug, Clone)]
pub struct Posterior<'p> {
    pub(super) clusters: &'p Clusters,
    /// Of each cluster, and then of being background.
    pub(super) probabilities: Vec<f64>,
    accesses: Vec<AccessTime>,
}

/// Clusters less likely than this are not asked for their opinion.
const NEGLIGIBLE: f64 = 1e-3;
/// So many probes say nothing of the cluster, because something was in the way.
const STRANGE: f64 = 0.01;
/// No cluster is less likely than this, so that it can come back.
const LEAST: f64 = 1e-200;
impl<'p> Posterior<'p> {
    /// Before the first probe. `prior` has a probability for each cluster and then that of being
    /// background, as [`super::Prior::prior`] gives them.
    pub fn new(clusters: &'p Clusters, prior: &[f64]) -> Self {
        let usual = AccessTime { ms: 0.0, variance: (ACCESS_MS * ACCESS_MS) as f32 };
        let probabilities = prior.iter().map(|probability| probability.max(LEAST)).collect();
        Self { clusters, probabilities, accesses: vec![usual; clusters.len()] }
    }

    /// Takes in that `agent` measured `rtt_ms`.
    pub fn observe(&mut self, agent: AgentId, rtt_ms: f64) {
        let states = self.probabilities.iter_mut().zip(&mut self.accesses);
        let rtt_ms = rtt_ms as f32;
        let anywhere = f64::from(self.clusters.background().density(rtt_ms));
        let strange = STRANGE * anywhere;
        if let Some(known) = self.clusters.expected_of(agent) {
            for ((probability, access), expected) in states.zip(known) {
                *probability *= f64::from(access.observe(*expected, rtt_ms)) + strange;
            }
        } else {
            for ((probability, access), times) in states.zip(self.clusters.cluster_times()) {
                *probability *= f64::from(access.observe(times.unmeasured(), rtt_ms)) + strange;
            }
        }
        for probability in self.probabilities.iter_mut().skip(self.accesses.len()) {
            *probability *= anywhere;
        }
        let share = 1.0 / sum(&self.probabilities);
        for probability in &mut self.probabilities {
            *probability = (*probability * share).max(LEAST);
        }
    }

    /// The probability of each cluster, and then that of being background.
    pub fn probabilities(&self) -> Vec<f64> {
        self.probabilities.clone()
    }

    /// The round trip to be expected from `agent`, with its deviation, in milliseconds.
    pub fn expected_ms(&self, agent: AgentId) -> (f64, f64) {
        let (elsewhere_ms, variance) = self.clusters.background().moments();
        let mut mean = self.background() * elsewhere_ms;
        let mut square = self.background() * (elsewhere_ms * elsewhere_ms + variance);
        for (cluster, (probability, access)) in
            self.probabilities.iter().zip(&self.accesses).enumerate()
        {
            let expected = self.expected(cluster, agent);
            let time_ms = f64::from(expected.time_ms + access.ms);
            mean += probability * time_ms;
            square +=
                probability * (time_ms * time_ms + f64::from(access.variance + expected.variance));
        }
        (mean, (square - mean * mean).max(0.0).sqrt())
    }

    /// The probability that `agent` would measure less than `best_ms`, for each of `agents`.
    pub fn probabilities_below(&self, best_ms: f64, agents: &[AgentId]) -> Vec<f64> {
        let background =
            self.background() * f64::from(self.clusters.background().below(best_ms as f32));
        let background_shares =
            agents.iter().map(|agent| f64::from(self.clusters.background_share_of(*agent)));
        let mut below: Vec<f64> = background_shares.map(|share| share * background).collect();
        for (cluster, probability, access) in self.likely() {
            for (agent, below) in agents.iter().zip(&mut below) {
                let headway = access.headway(self.expected(cluster, *agent), best_ms as f32);
                *below += probability * f64::from(normal::below(headway));
            }
        }
        below
    }

    /// The probability that `agent` is the nearest of those on the roster who have not answered the
    /// search, as far as known clusters tell. Meant for the first probe: deviations of single routes
    /// are left aside.
    pub fn probability_nearest(
        &self,
        agent: AgentId,
        roster: &AvailableAgents,
        search: &Search<'_>,
    ) -> f64 {
        let mut nearest = self.nearest(&OpenAgents::new(roster, self.clusters, search));
        nearest
            .find(|ranked| ranked.agent == agent)
            .map_or(0.0, |ranked| f64::from(ranked.probability))
    }

    /// The probability that it is at no known cluster.
    pub fn background(&self) -> f64 {
        self.probabilities.get(self.clusters.len()).copied().unwrap_or(0.0)
    }

    fn expected(&self, cluster: Cluster, agent: AgentId) -> ExpectedTime {
        let known = self.clusters.expected_of(agent).and_then(|known| known.get(cluster).copied());
        let nothing = ExpectedTime { time_ms: 0.0, variance: 0.0 };
        known.unwrap_or_else(|| {
            self.clusters.cluster_times().get(cluster).map_or(nothing, ClusterTimes::unmeasured)
        })
    }

    pub(super) fn likely(&self) -> impl Iterator<Item = (Cluster, f64, AccessTime)> + '_ {
        let all = self.probabilities.iter().zip(&self.accesses).enumerate();
        all.filter(|(_, (probability, _))| **probability >= NEGLIGIBLE)
            .map(|(cluster, (probability, access))| (cluster, *probability, *access))
    }
}

/// The sum, in several strands at a time.
fn sum(probabilities: &[f64]) -> f64 {
    let (chunks, rest) = probabilities.as_chunks::<8>();
    let mut strands = [0.0; 8];
    for chunk in chunks {
        for (strand, probability) in strands.iter_mut().zip(chunk) {
            *strand += probability;
        }
    }
    strands.iter().chain(rest).sum()
}
