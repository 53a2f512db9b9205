//! Reference times: what is known of the distances between agents.

use std::collections::HashMap;

use model::AgentId;

use super::shortcuts::Shortcuts;
use crate::predictor::Landmark;

/// Landmarks without which two agents say nothing of each other.
const MIN_COMMON: usize = 6;

/// Round trips of the agents to landmarks, and to the home addresses of other agents.
#[derive(Debug, Clone, Default)]
pub struct ReferenceTimes {
    /// Sorted; the index of an agent is its row.
    agents: Vec<AgentId>,
    /// Milliseconds by agent, then by landmark; `None` where the agent has not measured.
    rows: Vec<Vec<Option<f64>>>,
    shortcuts: Shortcuts,
    /// Milliseconds by agent and witness, of agents that are where their home address is.
    homes: HashMap<(AgentId, AgentId), f64>,
}

/// What is known of the distance between an agent and a witness.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Relation {
    /// Paths over common landmarks: upper bounds of the round trip between the two.
    pub path: Option<Path>,
    /// Round trip from the witness to the home address of the agent, in milliseconds, where the
    /// agent measures from there.
    pub home_ms: Option<f64>,
}

/// The two shortest paths between two agents over a landmark.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Path {
    shortest_ms: f64,
    /// The landmark of the shortest.
    landmark: usize,
    /// The shortest over another landmark.
    second_ms: f64,
}

impl Path {
    /// The shortest path over another landmark than `except`.
    pub fn ms(&self, except: Option<usize>) -> f64 {
        if Some(self.landmark) == except { self.second_ms } else { self.shortest_ms }
    }

    fn add(&mut self, landmark: usize, ms: f64) {
        if ms < self.shortest_ms {
            self.second_ms = self.shortest_ms;
            self.shortest_ms = ms;
            self.landmark = landmark;
        } else {
            self.second_ms = self.second_ms.min(ms);
        }
    }
}

/// What a witness measured to the home address of an agent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HomeTime {
    /// The agent whose home address it is.
    pub agent: AgentId,
    /// The agent that measured.
    pub witness: AgentId,
    /// Round trip in milliseconds.
    pub ms: f64,
}

impl ReferenceTimes {
    /// Arranges the times. Home addresses that are not where their agents measure from are left
    /// out: the address may be that of a proxy.
    pub fn new(landmarks: &[Landmark], homes: &[HomeTime]) -> Self {
        let times = landmarks.iter().flat_map(|landmark| &landmark.times_ms);
        let mut agents: Vec<AgentId> = times.map(|(agent, _)| *agent).collect();
        agents.sort_unstable();
        agents.dedup();
        let mut rows = vec![vec![None; landmarks.len()]; agents.len()];
        for (number, landmark) in landmarks.iter().enumerate() {
            for (agent, ms) in &landmark.times_ms {
                if let Ok(row) = agents.binary_search(agent) {
                    rows[row][number] = Some(*ms);
                }
            }
        }
        let shortcuts = Shortcuts::find(&rows);
        let mut references = Self { agents, rows, shortcuts, homes: HashMap::new() };
        references.homes = references.confirmed_homes(homes);
        references
    }

    /// What is known of the distance between `agent` and `witness`, to judge reports of `agent`.
    pub fn relation(&self, agent: AgentId, witness: AgentId) -> Relation {
        let rows = self.row(agent).zip(self.row(witness));
        let path = rows.and_then(|(row, other)| self.path(row, other));
        Relation { path, home_ms: self.homes.get(&(agent, witness)).copied() }
    }

    /// The shortest paths over landmarks that both measured. `None` when too few common landmarks
    /// are known.
    fn path(&self, row: usize, other: usize) -> Option<Path> {
        let mut common = 0;
        let mut path = Path { shortest_ms: f64::INFINITY, landmark: 0, second_ms: f64::INFINITY };
        for (landmark, (a_ms, b_ms)) in self.rows[row].iter().zip(&self.rows[other]).enumerate() {
            let (Some(a_ms), Some(b_ms)) = (a_ms, b_ms) else { continue };
            // What the agent reports must not decide which landmarks count against it.
            if self.shortcuts.is_shortcut(landmark, row) {
                continue;
            }
            common += 1;
            path.add(landmark, a_ms + b_ms);
        }
        (common >= MIN_COMMON).then_some(path)
    }

    /// The agents that measured some landmark.
    pub(super) fn agents(&self) -> &[AgentId] {
        &self.agents
    }

    /// The times of an agent by landmark.
    pub(super) fn times(&self, row: usize) -> &[Option<f64>] {
        &self.rows[row]
    }

    fn row(&self, agent: AgentId) -> Option<usize> {
        self.agents.binary_search(&agent).ok()
    }

    fn confirmed_homes(&self, homes: &[HomeTime]) -> HashMap<(AgentId, AgentId), f64> {
        let mut by_agent: HashMap<AgentId, Vec<HomeTime>> = HashMap::new();
        for home in homes.iter().filter(|home| home.agent != home.witness) {
            by_agent.entry(home.agent).or_default().push(*home);
        }
        by_agent.retain(|agent, times| self.is_at_home(*agent, times));
        let all = by_agent.into_values().flatten();
        all.map(|home| ((home.agent, home.witness), home.ms)).collect()
    }

    /// Whether the landmark that the agent reports to be nearest is near its home address, as far
    /// as other agents tell: they need about the same time to both. The margin has room for
    /// an agent that reports half of the time, so that forging does not remove the evidence.
    fn is_at_home(&self, agent: AgentId, homes: &[HomeTime]) -> bool {
        let Some(row) = self.row(agent) else { return false };
        let measured = self.rows[row].iter().enumerate();
        let measured = measured.filter_map(|(landmark, ms)| Some((landmark, (*ms)?)));
        let nearest = measured.min_by(|(_, a), (_, b)| a.total_cmp(b));
        let Some((landmark, nearest_ms)) = nearest else { return false };
        let mut compared = 0_u32;
        let mut near = 0_u32;
        for home in homes {
            let Some(other) = self.row(home.witness) else { continue };
            let Some(landmark_ms) = self.rows[other][landmark] else { continue };
            let noise_ms = HOME_NOISE * home.ms.max(landmark_ms) + HOME_SLACK_MS;
            compared += 1;
            near += u32::from((home.ms - landmark_ms).abs() <= HOME_REACH * nearest_ms + noise_ms);
        }
        let share = f64::from(near) / f64::from(compared.max(1));
        compared >= MIN_HOME_WITNESSES && share >= HOME_AGREEMENT
    }
}

/// Multiple of the reported time to the nearest landmark within which the home address must be.
const HOME_REACH: f64 = 2.5;
/// Share of a round trip, and milliseconds, by which two routes to one place differ.
const HOME_NOISE: f64 = 0.2;
const HOME_SLACK_MS: f64 = 10.0;
/// Other agents that must have measured the home address.
const MIN_HOME_WITNESSES: u32 = 3;
/// Share of them that must agree.
const HOME_AGREEMENT: f64 = 0.7;
