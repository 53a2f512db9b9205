//! Landmarks that look alike from all agents are one cluster.
//!
//! One landmark is a poor picture of its city: its own routes deviate. The mean of those that lie
//! together is a better one, and two hundred clusters are faster to think about than a thousand
//! landmarks.

use std::collections::{BTreeSet, HashMap};

use hierarchy::SubnetId;
use model::AgentId;

use super::background::Background;
use super::cluster_spread::ClusterSpread;
use super::cluster_times::ClusterTimes;
use super::clustering::{Row, group};

/// Index of a cluster; it means nothing in another survey.
pub type Cluster = usize;

/// What the agents measured at one landmark.
#[derive(Debug, Clone, PartialEq)]
pub struct Landmark {
    /// The subnet it stands for.
    pub subnet: SubnetId,
    /// Round trip in milliseconds per agent; who has not measured it is not here.
    pub times_ms: Vec<(AgentId, f64)>,
}

/// Round trips from every agent to every cluster.
#[derive(Debug, Clone, Default)]
pub struct Clusters {
    /// Their numbers are the columns; sorted.
    agents: Vec<AgentId>,
    times_ms: Vec<Row>,
    members: Vec<(SubnetId, Cluster)>,
    cluster_times: Vec<ClusterTimes>,
    /// By column, then by cluster.
    by_column: Vec<ExpectedTime>,
    background: Background,
    /// By column, how much of what is near the agent may be background.
    background_shares: Vec<f32>,
}

/// Mean and variance of the round trip to a subnet with the usual access, in milliseconds and their
/// squares.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ExpectedTime {
    pub(super) time_ms: f32,
    pub(super) variance: f32,
}

impl Clusters {
    /// Groups the landmarks. The order of the landmarks decides little, the same order gives the
    /// same clusters.
    pub fn fit(landmarks: &[Landmark]) -> Self {
        let agents: BTreeSet<AgentId> = landmarks
            .iter()
            .flat_map(|landmark| landmark.times_ms.iter().map(|(agent, _)| *agent))
            .collect();
        let agents: Vec<AgentId> = agents.into_iter().collect();
        let columns: HashMap<AgentId, usize> = agents.iter().copied().zip(0..).collect();
        let rows: Vec<Row> = landmarks.iter().map(|landmark| row(landmark, &columns)).collect();
        let (times_ms, members) = group(&rows);
        let spread = ClusterSpread::of(&times_ms, &members);
        let members = landmarks
            .iter()
            .zip(members)
            .map(|(landmark, cluster)| (landmark.subnet, cluster))
            .collect();
        let cluster_times: Vec<ClusterTimes> =
            times_ms.iter().map(|row| ClusterTimes::of(row, spread.ms)).collect();
        let column = |column: usize| {
            let rows = times_ms.iter().zip(&cluster_times);
            rows.map(move |(row, times)| {
                row[column].map_or(times.unmeasured(), |time_ms| times.known(time_ms as f32))
            })
        };
        let background_shares = (0..agents.len()).map(|column| {
            let times_ms = times_ms.iter().filter_map(|row| row[column]);
            Background::background_shares(times_ms.fold(f64::INFINITY, f64::min))
        });
        let background_shares = background_shares.collect();
        let by_column = (0..agents.len()).flat_map(column).collect();
        let background = Background::of(
            spread.probability,
            times_ms.iter().flatten().filter_map(|time_ms| *time_ms),
        );
        Self { agents, times_ms, members, cluster_times, by_column, background, background_shares }
    }

    /// How many clusters there are.
    pub fn len(&self) -> usize {
        self.times_ms.len()
    }

    /// Whether there are none, because no landmark was measured.
    pub fn is_empty(&self) -> bool {
        self.times_ms.is_empty()
    }

    /// Each landmark's subnet with the cluster it belongs to.
    pub fn members(&self) -> &[(SubnetId, Cluster)] {
        &self.members
    }

    /// The round trip from `agent` to a subnet with the usual access at `cluster`, in milliseconds;
    /// `None` where it has measured no landmark.
    pub fn time_ms(&self, cluster: Cluster, agent: AgentId) -> Option<f64> {
        *self.times_ms.get(cluster)?.get(self.column(agent)?)?
    }

    /// The mean over all agents that measured something at `cluster`.
    pub fn mean_ms(&self, cluster: Cluster) -> f64 {
        self.cluster_times.get(cluster).map_or(0.0, |times| f64::from(times.mean_ms))
    }

    /// The agents that measured something anywhere, by column.
    pub(super) fn agents(&self) -> &[AgentId] {
        &self.agents
    }

    /// What is known of each cluster.
    pub(super) fn cluster_times(&self) -> &[ClusterTimes] {
        &self.cluster_times
    }

    /// What is expected of everybody at none of the clusters.
    pub(super) fn background(&self) -> Background {
        self.background
    }

    /// The same, less for agents with landmarks around them: these shares of it, by column. All of
    /// it for agents without a column.
    pub(super) fn background_shares(&self) -> &[f32] {
        &self.background_shares
    }

    /// The share of one agent.
    pub(super) fn background_share_of(&self, agent: AgentId) -> f32 {
        self.column(agent)
            .and_then(|column| self.background_shares.get(column))
            .copied()
            .unwrap_or(1.0)
    }

    /// What is expected of `agent` at all clusters; `None` when it measured nothing at all.
    pub(super) fn expected_of(&self, agent: AgentId) -> Option<&[ExpectedTime]> {
        let column = self.column(agent)?;
        self.by_column.get(column * self.len()..(column + 1) * self.len())
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
