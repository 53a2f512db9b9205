//! Reference times: what is known of the distances between agents, from what they measured to each
//! other's home addresses.

use std::collections::{BTreeMap, HashMap};

use model::AgentId;

use super::{DETOUR, SLACK_MS};

/// An agent, and the witness that measures its home address.
pub type HomeMeasurement = (AgentId, AgentId);
/// Round trips in milliseconds; `None` without an answer.
pub type HomeTimes = BTreeMap<HomeMeasurement, Option<f64>>;

/// Round trips of the agents to the home addresses of other agents.
#[derive(Debug, Clone, Default)]
pub struct ReferenceTimes {
    /// Sorted by agent; the index of an agent is its row.
    agents: Vec<KnownAgent>,
}

#[derive(Debug, Clone)]
struct KnownAgent {
    agent: AgentId,
    /// What it measured to the home addresses of others.
    reported: HashMap<AgentId, f64>,
    /// What others measured to its home address.
    measured: HashMap<AgentId, f64>,
    /// Whether it measures from its home address, as far as others tell.
    is_at_home: bool,
}

/// What is known of the distance between an agent and a witness, to judge reports of the agent.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Relation {
    /// An upper bound of the round trip between the two, in milliseconds: the shortest path over
    /// the home of a third agent, or the direct one.
    pub path_ms: Option<f64>,
    /// Round trip from the witness to the home address of the agent, in milliseconds, where the
    /// agent measures from there.
    pub home_ms: Option<f64>,
}

/// Deviation of the logarithm of an agent's own time over the other's time for the same pair,
/// around the median of all pairs, by which two ways of one path differ.
const SAME_PATH: f64 = 0.3;
/// Share of the pairs that must agree.
const AGREEMENT: f64 = 0.7;
/// Pairs that must be known.
const MIN_PAIRS: usize = 3;
/// The median must be within this factor: an agent that reports half of the truth is at home.
const HOME_REACH: f64 = 2.5;

impl ReferenceTimes {
    /// Arranges the times.
    pub fn new(homes: &HomeTimes) -> Self {
        let answered = homes.iter().filter_map(|(pair, ms)| Some((*pair, (*ms)?)));
        let homes: Vec<(HomeMeasurement, f64)> =
            answered.filter(|((agent, witness), ms)| agent != witness && ms.is_finite()).collect();
        let both = homes.iter().flat_map(|((agent, witness), _)| [*agent, *witness]);
        let mut ids: Vec<AgentId> = both.collect();
        ids.sort_unstable();
        ids.dedup();
        let unknown = |agent| KnownAgent {
            agent,
            reported: HashMap::new(),
            measured: HashMap::new(),
            is_at_home: false,
        };
        let mut references = Self { agents: ids.into_iter().map(unknown).collect() };
        for ((agent, witness), ms) in homes {
            if let Ok(row) = references.row(agent) {
                references.agents[row].measured.insert(witness, ms);
            }
            if let Ok(row) = references.row(witness) {
                references.agents[row].reported.insert(agent, ms);
            }
        }
        for agent in &mut references.agents {
            agent.is_at_home = agent.agrees_with_others();
        }
        references
    }

    /// What is known of the distance between `agent` and `witness`, to judge reports of `agent`.
    pub fn relation(&self, agent: AgentId, witness: AgentId) -> Relation {
        self.relation_without(agent, witness, None)
    }

    /// The same without what `agent` reported of the home of `without`.
    pub(super) fn relation_without(
        &self,
        agent: AgentId,
        witness: AgentId,
        without: Option<AgentId>,
    ) -> Relation {
        let Some((agent, witness)) = self.known(agent).zip(self.known(witness)) else {
            return Relation::default();
        };
        let over = self.agents.iter().filter(|hub| Some(hub.agent) != without);
        let path = over.filter_map(|hub| Some(agent.upper_ms(hub)? + witness.upper_ms(hub)?));
        let path_ms = path.min_by(f64::total_cmp);
        Relation { path_ms, home_ms: agent.home_ms(witness.agent) }
    }

    /// Whether the agent measures longer times than others measure to its home address.
    pub(super) fn is_slow(&self, agent: AgentId) -> bool {
        let logs = self.known(agent).map_or_else(Vec::new, KnownAgent::log_ratios);
        logs.get(logs.len() / 2).is_some_and(|median| *median > DETOUR.ln())
    }

    /// Round trip from `witness` to the home address of `agent`, where the agent measures from
    /// there.
    pub(super) fn home_ms(&self, agent: AgentId, witness: AgentId) -> Option<f64> {
        self.known(agent)?.home_ms(witness)
    }

    /// The agents of which something is known, in order.
    pub fn agents(&self) -> impl Iterator<Item = AgentId> + '_ {
        self.agents.iter().map(|agent| agent.agent)
    }

    /// What `agent` measured to the home addresses of others, in their order.
    pub(super) fn reported_by(&self, agent: AgentId) -> Vec<(AgentId, f64)> {
        let Some(known) = self.known(agent) else { return Vec::new() };
        let mut reported: Vec<(AgentId, f64)> =
            known.reported.iter().map(|(home, ms)| (*home, *ms)).collect();
        reported.sort_unstable_by_key(|(home, _)| *home);
        reported
    }

    fn known(&self, agent: AgentId) -> Option<&KnownAgent> {
        self.row(agent).ok().map(|row| &self.agents[row])
    }

    fn row(&self, agent: AgentId) -> Result<usize, usize> {
        self.agents.binary_search_by_key(&agent, |known| known.agent)
    }
}

impl KnownAgent {
    fn home_ms(&self, witness: AgentId) -> Option<f64> {
        self.measured.get(&witness).copied().filter(|_| self.is_at_home)
    }

    /// An upper bound of the round trip to another agent: what either measured to the home of the
    /// other, where the other measures from there.
    fn upper_ms(&self, other: &Self) -> Option<f64> {
        if self.agent == other.agent {
            return Some(0.0);
        }
        let own = self.reported.get(&other.agent).filter(|_| other.is_at_home);
        let others = self.measured.get(&other.agent).filter(|_| self.is_at_home);
        [own, others].into_iter().flatten().copied().min_by(f64::total_cmp)
    }

    /// Logarithms of its own time over the other's time of each pair, sorted.
    fn log_ratios(&self) -> Vec<f64> {
        let log = |(other, measured_ms): (&AgentId, &f64)| {
            let own_ms = self.reported.get(other)?;
            Some(((own_ms + SLACK_MS) / (measured_ms + SLACK_MS)).ln())
        };
        let mut logs: Vec<f64> = self.measured.iter().filter_map(log).collect();
        logs.sort_by(f64::total_cmp);
        logs
    }

    /// Whether the agent measures from its home address: both directions of a pair take the same
    /// time. A constant factor is left open, so that an agent that reports half of the truth does
    /// not remove the evidence. Behind a proxy or a VPN the times differ in all ways.
    fn agrees_with_others(&self) -> bool {
        let logs = self.log_ratios();
        if logs.len() < MIN_PAIRS {
            return false;
        }
        let median = logs[logs.len() / 2];
        let agreeing = logs.iter().filter(|log| (*log - median).abs() <= SAME_PATH).count();
        let is_near = median <= DETOUR.ln() && median >= -HOME_REACH.ln();
        is_near && agreeing as f64 >= AGREEMENT * logs.len() as f64
    }
}
