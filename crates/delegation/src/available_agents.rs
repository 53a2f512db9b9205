//! Agents that a search may choose from, and which of them can be asked now.

use std::collections::BTreeMap;

use model::AgentId;

/// Whether an agent can be asked to probe at this moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Availability {
    /// It is within its span, sends heartbeats, and may get another probe.
    Ready,
    /// It has as many probes to do as it may have.
    Busy,
    /// It has reported that its owner, or a limit that its owner set, keeps it from probing.
    Idle,
    /// It is outside its span and said so.
    Asleep,
    /// Its heartbeat is overdue.
    Unreachable,
}

/// The agents that subnets may be delegated to. Paused and revoked agents are not among them: they
/// are neither asked nor chosen, even where they have measured.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AvailableAgents {
    agents: BTreeMap<AgentId, Availability>,
}

impl AvailableAgents {
    /// Adds an agent or changes its availability.
    pub fn set(&mut self, agent: AgentId, availability: Availability) {
        self.agents.insert(agent, availability);
    }

    /// Removes an agent; nothing happens when it is not there.
    pub fn remove(&mut self, agent: AgentId) {
        self.agents.remove(&agent);
    }

    /// All agents, oldest (lowest id) first.
    pub fn agents(&self) -> impl Iterator<Item = AgentId> + '_ {
        self.agents.keys().copied()
    }

    /// Whether the agent may be chosen.
    pub fn knows(&self, agent: AgentId) -> bool {
        self.agents.contains_key(&agent)
    }

    /// Whether the agent can be asked now.
    pub fn is_ready(&self, agent: AgentId) -> bool {
        self.availability(agent) == Some(Availability::Ready)
    }

    /// Availability of an agent; `None` for one that may not be chosen.
    pub fn availability(&self, agent: AgentId) -> Option<Availability> {
        self.agents.get(&agent).copied()
    }

    /// Whether there are no agents.
    pub fn is_empty(&self) -> bool {
        self.agents.is_empty()
    }
}

impl FromIterator<(AgentId, Availability)> for AvailableAgents {
    fn from_iter<Agents: IntoIterator<Item = (AgentId, Availability)>>(agents: Agents) -> Self {
        Self { agents: agents.into_iter().collect() }
    }
}
