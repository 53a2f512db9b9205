//! Which agents there are, and which of them can be asked now.

use model::AgentId;

/// Whether an agent can be asked to probe at this moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Availability {
    /// It is in its hours, answers, and has room for another probe.
    Ready,
    /// It has as many probes to do as it may have.
    Busy,
    /// It is outside its hours and said so.
    Asleep,
    /// It has not been heard of when it should have been.
    Unreachable,
}

/// The agents that subnets may be delegated to. Who is paused or revoked is not on it: it is
/// neither asked nor chosen, even where it has measured.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AvailableAgents {
    /// Sorted, and apart from how it is with each: every step of a search looks for those that
    /// nothing is known of.
    agents: Vec<AgentId>,
    availabilities: Vec<Availability>,
}

impl AvailableAgents {
    /// Enters an agent or changes its availability.
    pub fn set(&mut self, agent: AgentId, availability: Availability) {
        match self.place(agent) {
            Ok(place) => self.availabilities[place] = availability,
            Err(place) => {
                self.agents.insert(place, agent);
                self.availabilities.insert(place, availability);
            }
        }
    }

    /// Strikes an agent off.
    pub fn remove(&mut self, agent: AgentId) {
        if let Ok(place) = self.place(agent) {
            self.agents.remove(place);
            self.availabilities.remove(place);
        }
    }

    /// All agents, oldest (lowest id) first.
    pub fn agents(&self) -> impl Iterator<Item = AgentId> + '_ {
        self.agents.iter().copied()
    }

    /// Whether these, sorted, are all agents. Looks at all of them, without a branch for each.
    pub(crate) fn is(&self, agents: &[AgentId]) -> bool {
        let differences =
            self.agents.iter().zip(agents).fold(0, |bits, (a, b)| bits | (a.get() ^ b.get()));
        self.agents.len() == agents.len() && differences == 0
    }

    /// Agents that are not among `known`, which is sorted.
    pub(crate) fn unmeasured(&self, known: &[AgentId]) -> impl Iterator<Item = AgentId> {
        let mut known = known.iter().peekable();
        self.agents().filter(move |agent| {
            while known.next_if(|other| *other < agent).is_some() {}
            known.peek() != Some(&agent)
        })
    }

    /// Whether the agent is on the roster.
    pub fn knows(&self, agent: AgentId) -> bool {
        self.place(agent).is_ok()
    }

    /// Whether the agent can be asked now.
    pub fn is_ready(&self, agent: AgentId) -> bool {
        self.availability(agent) == Some(Availability::Ready)
    }

    /// How it is with this agent; `None` for who is not on the roster.
    pub fn availability(&self, agent: AgentId) -> Option<Availability> {
        self.place(agent).ok().map(|place| self.availabilities[place])
    }

    fn place(&self, agent: AgentId) -> Result<usize, usize> {
        self.agents.binary_search(&agent)
    }

    /// Whether there is nobody.
    pub fn is_empty(&self) -> bool {
        self.agents.is_empty()
    }
}

impl FromIterator<(AgentId, Availability)> for AvailableAgents {
    fn from_iter<Agents: IntoIterator<Item = (AgentId, Availability)>>(agents: Agents) -> Self {
        let mut roster = Self::default();
        agents.into_iter().for_each(|(agent, availability)| roster.set(agent, availability));
        roster
    }
}
