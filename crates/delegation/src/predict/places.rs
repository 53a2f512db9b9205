//! Landmarks that look alike from all agents are one place.
//!
//! One landmark is a poor picture of its city: its own routes deviate. The mean of those that lie
//! together is a better one, and two hundred places are faster to think about than a thousand
//! landmarks.

use std::collections::{BTreeSet, HashMap};

use hierarchy::SubnetId;
use protocol::AgentId;

use super::elsewhere::Elsewhere;
use super::gap::Gap;
use super::grouping::{Row, group};
use super::sight::Sight;

/// Index of a place; it means nothing in another survey.
pub type Place = usize;

/// What the agents measured at one landmark.
#[derive(Debug, Clone, PartialEq)]
pub struct Landmark {
    /// The subnet it stands for.
    pub subnet: SubnetId,
    /// Round trip in milliseconds per agent; who has not measured it is not here.
    pub times_ms: Vec<(AgentId, f64)>,
}

/// Round trips from every agent to every place.
#[derive(Debug, Clone, Default)]
pub struct Places {
    /// Their numbers are the columns; sorted.
    agents: Vec<AgentId>,
    times_ms: Vec<Row>,
    homes: Vec<(SubnetId, Place)>,
    sights: Vec<Sight>,
    /// By column, then by place.
    by_column: Vec<Expected>,
    elsewhere: Elsewhere,
    /// By column, how much of what is near the agent may be elsewhere.
    unexplored: Vec<f32>,
}

/// Mean and variance of the round trip to a subnet with the usual access, in milliseconds and their
/// squares.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Expected {
    pub(super) time_ms: f32,
    pub(super) variance: f32,
}

impl Places {
    /// Groups the landmarks. The order of the landmarks decides little, the same order gives the
    /// same places.
    pub fn survey(landmarks: &[Landmark]) -> Self {
        let agents: BTreeSet<AgentId> = landmarks
            .iter()
            .flat_map(|landmark| landmark.times_ms.iter().map(|(agent, _)| *agent))
            .collect();
        let agents: Vec<AgentId> = agents.into_iter().collect();
        let columns: HashMap<AgentId, usize> = agents.iter().copied().zip(0..).collect();
        let rows: Vec<Row> = landmarks.iter().map(|landmark| row(landmark, &columns)).collect();
        let (times_ms, homes) = group(&rows);
        let gap = Gap::of(&times_ms, &homes);
        let homes =
            landmarks.iter().zip(homes).map(|(landmark, place)| (landmark.subnet, place)).collect();
        let sights: Vec<Sight> = times_ms.iter().map(|row| Sight::of(row, gap.ms)).collect();
        let column = |column: usize| {
            let rows = times_ms.iter().zip(&sights);
            rows.map(move |(row, sight)| {
                row[column].map_or(sight.stranger(), |time_ms| sight.known(time_ms as f32))
            })
        };
        let unexplored = (0..agents.len()).map(|column| {
            let times_ms = times_ms.iter().filter_map(|row| row[column]);
            Elsewhere::unexplored(times_ms.fold(f64::INFINITY, f64::min))
        });
        let unexplored = unexplored.collect();
        let by_column = (0..agents.len()).flat_map(column).collect();
        let elsewhere =
            Elsewhere::of(gap.chance, times_ms.iter().flatten().filter_map(|time_ms| *time_ms));
        Self { agents, times_ms, homes, sights, by_column, elsewhere, unexplored }
    }

    /// How many places there are.
    pub fn len(&self) -> usize {
        self.times_ms.len()
    }

    /// Whether there are none, because no landmark was measured.
    pub fn is_empty(&self) -> bool {
        self.times_ms.is_empty()
    }

    /// Each landmark's subnet with the place it belongs to.
    pub fn homes(&self) -> &[(SubnetId, Place)] {
        &self.homes
    }

    /// The round trip from `agent` to a subnet with the usual access at `place`, in milliseconds;
    /// `None` where it has measured no landmark.
    pub fn time_ms(&self, place: Place, agent: AgentId) -> Option<f64> {
        *self.times_ms.get(place)?.get(self.column(agent)?)?
    }

    /// The mean over all agents that measured something at `place`.
    pub fn mean_ms(&self, place: Place) -> f64 {
        self.sights.get(place).map_or(0.0, |sight| f64::from(sight.mean_ms))
    }

    /// The agents that measured something anywhere, by column.
    pub(super) fn agents(&self) -> &[AgentId] {
        &self.agents
    }

    /// What is known of each place.
    pub(super) fn sights(&self) -> &[Sight] {
        &self.sights
    }

    /// What is expected of everybody at none of the places.
    pub(super) fn elsewhere(&self) -> Elsewhere {
        self.elsewhere
    }

    /// The same, less for agents with landmarks around them: these shares of it, by column. All of
    /// it for agents without a column.
    pub(super) fn unexplored(&self) -> &[f32] {
        &self.unexplored
    }

    /// The share of one agent.
    pub(super) fn unexplored_by(&self, agent: AgentId) -> f32 {
        self.column(agent).and_then(|column| self.unexplored.get(column)).copied().unwrap_or(1.0)
    }

    /// What is expected of `agent` at all places; `None` when it measured nothing at all.
    pub(super) fn expected_of(&self, agent: AgentId) -> Option<&[Expected]> {
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
