//! Agents that a search may choose from, and which of them can be asked now.

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
    /// Sorted by agent.
    agents: Vec<(AgentId, Availability)>,
}

impl AvailableAgents {
    /// Adds an agent or changes its availability.
    pub fn set(&mut self, agent: AgentId, availability: Availability) {
        match self.index(agent) {
            Ok(index) => self.agents[index].1 = availability,
            Err(index) => self.agents.insert(index, (agent, availability)),
        }
    }

    /// Removes an agent; nothing happens when it is not there.
    pub fn remove(&mut self, agent: AgentId) {
        if let Ok(index) = self.index(agent) {
            self.agents.remove(index);
        }
    }

    /// All agents, oldest (lowest id) first.
    pub fn agents(&self) -> impl Iterator<Item = AgentId> + '_ {
        self.agents.iter().map(|(agent, _)| *agent)
    }

    /// Whether the agent may be chosen.
    pub fn knows(&self, agent: AgentId) -> bool {
        self.index(agent).is_ok()
    }

    /// Whether the agent can be asked now.
    pub fn is_ready(&self, agent: AgentId) -> bool {
        self.availability(agent) == Some(Availability::Ready)
    }

    /// Availability of an agent; `None` for one that may not be chosen.
    pub fn availability(&self, agent: AgentId) -> Option<Availability> {
        self.index(agent).ok().map(|index| self.agents[index].1)
    }

    /// Whether there are no agents.
    pub fn is_empty(&self) -> bool {
        self.agents.is_empty()
    }

    fn index(&self, agent: AgentId) -> Result<usize, usize> {
        self.agents.binary_search_by_key(&agent, |(known, _)| *known)
    }
}

impl FromIterator<(AgentId, Availability)> for AvailableAgents {
    fn from_iter<Agents: IntoIterator<Item = (AgentId, Availability)>>(agents: Agents) -> Self {
        let mut available = Self::default();
        for (agent, availability) in agents {
            available.set(agent, availability);
        }
        available
    }
}
