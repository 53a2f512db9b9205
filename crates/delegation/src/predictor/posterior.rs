//! Posterior of one subnet: at which cluster it is, and how far it then is from each agent.

use model::AgentId;

use super::access_time::AccessTime;
use super::cluster_times::ClusterTimes;
use super::clusters::ExpectedTime;
use super::ranking::OpenAgents;
use super::{ACCESS_MS, Cluster, Clusters};
use crate::{AvailableAgents, Search, normal};

/// Probability of each cluster and of the background cluster, and per cluster the access time that
/// the probes imply.
///
/// Each probe multiplies the probability of every cluster by how well the cluster explains the
/// round trip, with heavy tails (Student's *t*), because a single irregular measurement must not
/// decide. The access time is estimated per cluster by a Kalman filter of one variable.
#[derive(Debug, Clone)]
pub struct Posterior<'p> {
    pub(super) clusters: &'p Clusters,
    /// One for each cluster, then that of the background cluster.
    probabilities: Vec<f64>,
    access_times: Vec<AccessTime>,
}

/// Clusters with a smaller probability are left out of rankings.
const NEGLIGIBLE: f64 = 1e-3;
/// Share of probes that say nothing of the cluster, because something was wrong on the path.
const IRREGULAR: f64 = 0.01;
/// Least probability of a cluster, so that later probes can raise it again.
const MIN_PROBABILITY: f64 = 1e-200;

impl<'p> Posterior<'p> {
    /// The posterior before the first probe; `prior` is that of [`super::Prior::probabilities`].
    pub fn new(clusters: &'p Clusters, prior: &[f64]) -> Self {
        let usual = AccessTime { ms: 0.0, variance: (ACCESS_MS * ACCESS_MS) as f32 };
        let probabilities =
            prior.iter().map(|probability| probability.max(MIN_PROBABILITY)).collect();
        Self { clusters, probabilities, access_times: vec![usual; clusters.len()] }
    }

    /// Updates the posterior: `agent` measured `rtt_ms`.
    pub fn observe(&mut self, agent: AgentId, rtt_ms: f64) {
        let rtt_ms = rtt_ms as f32;
        let background = f64::from(self.clusters.background().density(rtt_ms));
        let irregular = IRREGULAR * background;
        let states = self.probabilities.iter_mut().zip(&mut self.access_times);
        if let Some(measured) = self.clusters.expected_from(agent) {
            for ((probability, access), expected) in states.zip(measured) {
                *probability *= f64::from(access.observe(*expected, rtt_ms)) + irregular;
            }
        } else {
            for ((probability, access), times) in states.zip(self.clusters.cluster_times()) {
                *probability *= f64::from(access.observe(times.unmeasured(), rtt_ms)) + irregular;
            }
        }
        for probability in self.probabilities.iter_mut().skip(self.access_times.len()) {
            *probability *= background;
        }
        let scale = 1.0 / self.probabilities.iter().sum::<f64>();
        for probability in &mut self.probabilities {
            *probability = (*probability * scale).max(MIN_PROBABILITY);
        }
    }

    /// Probability of each cluster, then that of the background cluster.
    pub fn probabilities(&self) -> Vec<f64> {
        self.probabilities.clone()
    }

    /// Expected round trip from `agent`, with its standard deviation, in milliseconds.
    pub fn expected_ms(&self, agent: AgentId) -> (f64, f64) {
        let (background_ms, variance) = self.clusters.background().moments();
        let mut mean = self.background() * background_ms;
        let mut square = self.background() * (background_ms * background_ms + variance);
        let states = self.probabilities.iter().zip(&self.access_times).enumerate();
        for (cluster, (probability, access)) in states {
            let expected = self.expected(cluster, agent);
            let time_ms = f64::from(expected.time_ms + access.ms);
            let variance = f64::from(access.variance + expected.variance);
            mean += probability * time_ms;
            square += probability * (time_ms * time_ms + variance);
        }
        (mean, (square - mean * mean).max(0.0).sqrt())
    }

    /// The probability of each of `agents` that it would measure less than `fastest_ms`.
    pub fn probabilities_below(&self, fastest_ms: f64, agents: &[AgentId]) -> Vec<f64> {
        let fastest_ms = fastest_ms as f32;
        let background =
            self.background() * f64::from(self.clusters.background().below(fastest_ms));
        let shares = agents.iter().map(|agent| f64::from(self.clusters.background_share(*agent)));
        let mut below: Vec<f64> = shares.map(|share| share * background).collect();
        for (cluster, probability, access) in self.likely_clusters() {
            for (agent, below) in agents.iter().zip(&mut below) {
                let expected = self.expected(cluster, *agent);
                let deviations = access.deviations_below(expected, fastest_ms);
                *below += probability * f64::from(normal::below(deviations));
            }
        }
        below
    }

    /// The probability that `agent` is the nearest of the available agents that have not answered
    /// the search, as far as known clusters say. Meant for the first probe: deviations of single
    /// routes are ignored.
    pub fn probability_nearest(
        &self,
        agent: AgentId,
        available: &AvailableAgents,
        search: &Search<'_>,
    ) -> f64 {
        let mut nearest = self.nearest(&OpenAgents::new(available, self.clusters, search));
        let found = nearest.find(|ranked| ranked.agent == agent);
        found.map_or(0.0, |ranked| f64::from(ranked.probability))
    }

    /// Probability of the background cluster.
    pub fn background(&self) -> f64 {
        self.probabilities.get(self.clusters.len()).copied().unwrap_or(0.0)
    }

    fn expected(&self, cluster: Cluster, agent: AgentId) -> ExpectedTime {
        let measured = self.clusters.expected_from(agent);
        let measured = measured.and_then(|expected| expected.get(cluster).copied());
        let nothing = ExpectedTime { time_ms: 0.0, variance: 0.0 };
        let times = || self.clusters.cluster_times().get(cluster);
        measured.unwrap_or_else(|| times().map_or(nothing, ClusterTimes::unmeasured))
    }

    pub(super) fn likely_clusters(&self) -> impl Iterator<Item = (Cluster, f64, AccessTime)> + '_ {
        let states = self.probabilities.iter().zip(&self.access_times).enumerate();
        let likely = states.filter(|(_, (probability, _))| **probability >= NEGLIGIBLE);
        likely.map(|(cluster, (probability, access))| (cluster, *probability, *access))
    }
}
