//! What a search did, in numbers.

use model::SkipReason;
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::admin::dto::agents::AgentRef;

/// Agents that were passed over though their turn had come, counted by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct SkippedCounts {
    /// Outside their hours.
    pub asleep: u64,
    /// Not heard of when they should have been.
    pub unreachable: u64,
    /// With as many probes to do as they may have.
    pub busy: u64,
    /// Excluded by an admin.
    pub excluded: u64,
    /// With their probes of the day used up.
    pub budget: u64,
}

/// What a search did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct Counters {
    /// Agents asked.
    pub asked: u64,
    /// Of those: measured.
    pub measured: u64,
    /// Of those: got no answer from the address.
    pub unreachable: u64,
    /// Of those: may not probe it, by their owners' rules.
    pub refused: u64,
    /// Of those: did not report in time.
    pub expired: u64,
    /// Of those: have not reported yet.
    pub pending: u64,
    /// Agents not asked though their turn had come.
    pub skipped: SkippedCounts,
}

/// An agent that was passed over.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct SkippedAgent {
    /// Who.
    pub agent: AgentRef,
    /// Why.
    pub why: SkipReason,
}
