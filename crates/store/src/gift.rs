//! Gift: a subnet that goes to an agent, as loans and hosts see it.

use hierarchy::Range;
use model::AgentId;

/// A subnet that is given to an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Gift {
    /// The subnet that is given.
    pub(crate) subnet: Range,
    /// The agent that gets it.
    pub(crate) agent: AgentId,
    /// The agent that has it, where the region of both moves the hosts by itself.
    pub(crate) moved_from: Option<AgentId>,
}

impl Gift {
    /// A subnet whose hosts the coordinator hands over.
    pub(crate) const fn new(subnet: Range, agent: AgentId) -> Self {
        Self { subnet, agent, moved_from: None }
    }
}
