//! Clusters: landmarks with similar times from all agents, represented by their mean.
//!
//! One landmark is a poor estimate of its city, because its own routes deviate. The mean of those
//! that are close together is a better one, and two hundred clusters take less computing time than
//! a thousand landmarks.

use std::collections::{BTreeSet, HashMap};

use hierarchy::SubnetId;
use model::AgentId;

use super::background::Background;
use super::cluster_spread::ClusterSpread;
use super::cluster_times::ClusterTimes;
use super::clustering::{Row, group};

/// Index of a cluster; it means nothing in another model fit.
pub type Cluster = usize;

/// Times of the agents at one landmark.
#[derive(Debug, Clone, PartialEq)]
pub struct Landmark {
    /// The subnet that the landmark stands for.
    pub subnet: SubnetId,
    /// Round trip in milliseconds per agent; agents that have not measured it are not listed.
    pub times_ms: Vec<(AgentId, f64)>,
}

/// Round trips from every agent to every cluster.
#[derive(Debug, Clone, Default)]
pub struct Clusters {
    /// Sorted; the index of an agent is its column.
    agents: Vec<AgentId>,
    times_ms: Vec<Row>,
    members: Vec<(SubnetId, Cluster)>,
    cluster_times: Vec<ClusterTimes>,
    /// By column, then by cluster.
    expected: Vec<ExpectedTime>,
    background: Background,
    /// By column, see [`Background::share`].
    background_shares: Vec<f32>,
}

/// Mean and variance of the round trip to a subnet with the usual access time, in milliseconds and
/// their squares.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ExpectedTime {
    pub(super) time_ms: f32,
    pub(super) variance: f32,
}

impl Clusters {
    /// Fits the clusters to the landmarks. Another order of the landmarks gives slightly different
    /// clusters, the same order the same ones.
    pub fn fit(landmarks: &[Landmark]) -> Self {
        let times = landmarks.iter().flat_map(|landmark| &landmark.times_ms);
        let agents: BTreeSet<AgentId> = times.map(|(agent, _)| *agent).collect();
        let agents: Vec<AgentId> = agents.into_iter().collect();
        let columns: HashMap<AgentId, usize> = agents.iter().copied().zip(0..).collect();
        let rows: Vec<Row> = landmarks.iter().map(|landmark| row(landmark, &columns)).collect();
        let (times_ms, members) = group(&rows);
        let spread = ClusterSpread::of(&times_ms, &members);
        let cluster_times: Vec<ClusterTimes> =
            times_ms.iter().map(|row| ClusterTimes::of(row, spread.ms)).collect();
        let mut expected = Vec::new();
        let mut background_shares = Vec::new();
        for column in 0..agents.len() {
            let mut nearest_ms = f64::INFINITY;
            for (row, times) in times_ms.iter().zip(&cluster_times) {
                let measured = row[column].map(|time_ms| times.measured(time_ms as f32));
                expected.push(measured.unwrap_or_else(|| times.unmeasured()));
                nearest_ms = nearest_ms.min(row[column].unwrap_or(f64::INFINITY));
            }
            background_shares.push(Background::share(nearest_ms));
        }
        let all_ms = times_ms.iter().flatten().filter_map(|time_ms| *time_ms);
        let background = Background::of(spread.probability, all_ms);
        let subnets = landmarks.iter().map(|landmark| landmark.subnet);
        let members = subnets.zip(members).collect();
        Self { agents, times_ms, members, cluster_times, expected, background, background_shares }
    }

    /// Number of clusters, without the background cluster.
    pub fn len(&self) -> usize {
        self.times_ms.len()
    }

    /// Whether there are none, because no landmark was measured.
    pub fn is_empty(&self) -> bool {
        self.times_ms.is_empty()
    }

    /// Each landmark's subnet with its cluster.
    pub fn members(&self) -> &[(SubnetId, Cluster)] {
        &self.members
    }

    /// Round trip from `agent` to a subnet with the usual access time at `cluster`, in
    /// milliseconds; `None` where the agent has measured no landmark.
    pub fn time_ms(&self, cluster: Cluster, agent: AgentId) -> Option<f64> {
        *self.times_ms.get(cluster)?.get(self.column(agent)?)?
    }

    /// The agents that measured some landmark, by column.
    pub(super) fn agents(&self) -> &[AgentId] {
        &self.agents
    }

    /// The times of each cluster.
    pub(super) fn cluster_times(&self) -> &[ClusterTimes] {
        &self.cluster_times
    }

    /// The cluster of subnets that are at none of the others.
    pub(super) fn background(&self) -> Background {
        self.background
    }

    /// [`Background::share`] by column.
    pub(super) fn background_shares(&self) -> &[f32] {
        &self.background_shares
    }

    /// [`Background::share`] of one agent; 1 for an agent without a column.
    pub(super) fn background_share(&self, agent: AgentId) -> f32 {
        self.column(agent).map_or(1.0, |column| self.background_shares[column])
    }

    /// Expected times from `agent` to all clusters; `None` when it has measured no landmark.
    pub(super) fn expected_from(&self, agent: AgentId) -> Option<&[ExpectedTime]> {
        let column = self.column(agent)?;
        self.expected.get(column * self.len()..(column + 1) * self.len())
    }

    fn column(&self, agent: AgentId) -> Option<usize> {
        self.agents.binary_search(&agent).ok()
    }
}

fn row(landmark: &Landmark, columns: &HashMap<AgentId, usize>) -> Row {
    let mut row = vec![None; columns.len()];
    for (agent, time_ms) in &landmark.times_ms {
        if let Some(column) = columns.get(agent) {
            row[*column] = Some(*time_ms);
        }
    }
    row
}
