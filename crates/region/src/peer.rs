//! The parties of a region that exchange messages.

use std::fmt;

use model::AgentId;
use serde::{Deserialize, Serialize};

/// A sender or receiver of messages. Each has one vote on leases.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Peer {
    /// The coordinator: all coordinators of one database are one party.
    Coordinator,
    /// An agent of the region.
    Agent(AgentId),
}

impl Peer {
    /// The agent, unless this is the coordinator.
    pub fn agent(self) -> Option<AgentId> {
        match self {
            Self::Coordinator => None,
            Self::Agent(agent) => Some(agent),
        }
    }
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Coordinator => f.write_str("coordinator"),
            Self::Agent(agent) => agent.fmt(f),
        }
    }
}
