//! Agents: what admins decided about them, whether they can be reached, why a search skips them.

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

/// What the admins decided about an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[derive(Serialize, Deserialize, EnumString, IntoStaticStr, VariantArray)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum AgentState {
    /// Enrolled; an admin has yet to approve it.
    Pending,
    /// May probe and crawl.
    Approved,
    /// Keeps its delegations, but fetches nothing until an admin resumes it.
    Paused,
    /// May never work again under its key.
    Revoked,
}

/// What the admins decided about a partner's request to host an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[derive(Serialize, Deserialize, EnumString, IntoStaticStr, VariantArray)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum JoinRequestState {
    /// Nobody has decided yet.
    Waiting,
    /// The partner may host an agent and is sent a one-time link.
    Accepted,
    /// The partner may not.
    Declined,
}

/// Whether an agent can be reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[derive(Serialize, Deserialize, EnumString, IntoStaticStr, VariantArray)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Presence {
    /// Sends heartbeats, inside its spans.
    Awake,
    /// Announced its sleep, or is outside its spans.
    Asleep,
    /// Is inside its spans, but its heartbeats stay away.
    Unreachable,
    /// Enrolled, but has not sent a heartbeat yet.
    Never,
}

/// Why a search did not ask an agent whose turn had come.
///
/// The order of the variants is the order in which several reasons are reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[derive(Serialize, Deserialize, EnumString, IntoStaticStr, VariantArray)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum SkipReason {
    /// It was outside its spans.
    Asleep,
    /// Its heartbeats stayed away.
    Unreachable,
    /// Its heartbeats stayed away for more than a day, so that the search did not wait for it.
    Absent,
    /// It carried out no probes then: its owner or a limit of its owner kept it from working.
    Idle,
    /// It had as many unanswered probe orders as it may have.
    Busy,
    /// An admin excluded it.
    Excluded,
    /// Its probes of the day, or those of the subnet, were used up.
    Budget,
    /// An admin drains it.
    Drained,
}

/// How far the drain of an agent is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[derive(Serialize, Deserialize, EnumString, IntoStaticStr, VariantArray)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum DrainState {
    /// Its subnets go to other agents as these are found.
    Draining,
    /// The deadline has passed: what it still has is taken from it.
    Overdue,
    /// It has neither subnets nor hosts.
    Drained,
}

spelling!(AgentState, JoinRequestState, Presence, SkipReason, DrainState);
