//! Permits: the answer to an agent that wants to fetch from a host.

use crate::time::Millis;

/// Whether a fetch may start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Permit {
    /// It may start, and must have ended at this moment at the latest.
    Until(Millis),
    /// It may not start now.
    Denied(Denial),
}

/// Why a fetch may not start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Denial {
    /// The agent is outside its spans.
    Asleep,
    /// The coordinator's loan of the region's hosts ends too soon, or has ended.
    NoLoan,
    /// The host's address is not the region's, or the agent is not a member.
    NotOfRegion,
    /// The host was never given to this agent.
    Unknown,
    /// Another agent owns the host.
    NotOwner,
    /// The bundle of the host is being asked for.
    Recovering,
    /// No majority of voters allows the host for long enough.
    NoLease,
}
