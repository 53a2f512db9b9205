//! Leaving: the owner ends the agent for good.
//!
//! The first [`LeaveRequest`] ends the agent's delegations. From then on its heartbeats bring
//! orders to release its hosts. When it has released and shipped everything, it sends another one
//! with `done`, and its key is worthless from then on.

use serde::{Deserialize, Serialize};

use crate::ProtocolVersion;
use model::AgentState;

/// Body of `POST /api/v1/agent/leave`; may be repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeaveRequest {
    /// Protocol version of the agent.
    pub protocol: ProtocolVersion,
    /// Whether the agent has handed everything over, or does not want to.
    pub done: bool,
}

/// Answer to [`LeaveRequest`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeaveResponse {
    /// Hosts that the agent has not handed over yet.
    pub hosts_left: u64,
    /// State of the agent; [`AgentState::Revoked`] once it is deregistered.
    pub state: AgentState,
}
