//! The closed sets of words that answers use.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What the admins decided about an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum AgentState {
    /// Enrolled, waits for an admin.
    Pending,
    /// Works.
    Approved,
    /// Told to stop for now.
    Paused,
    /// Shut out for good.
    Revoked,
}

/// Whether an agent can be reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Presence {
    /// Beats, inside its spans.
    Awake,
    /// Announced its sleep, or is outside its spans.
    Asleep,
    /// Should beat but does not.
    Unreachable,
    /// Has never beaten.
    Never,
}

/// Why a subnet is delegated to its agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// It is the agent's own home subnet.
    Home,
    /// An agent of the same company was near enough.
    Company,
    /// An agent found in the hierarchy was near enough.
    Threshold,
    /// Nobody was near enough; the nearest that was measured.
    Lowest,
    /// There was one agent only to choose from.
    OnlyAgent,
}

/// Step of the search in which an agent was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Agents that hold other subnets of the same company.
    Company,
    /// Agents of delegated siblings at one level of the hierarchy.
    Sibling,
    /// Agents of the siblings' children.
    SiblingChild,
}

/// How a round trip was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// ICMP echo.
    Icmp,
    /// TCP connect.
    Tcp,
    /// HTTP HEAD.
    Head,
}

/// What came of one probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Not answered yet.
    Pending,
    /// At or under the threshold.
    Satisfies,
    /// Measured, over the threshold.
    TooSlow,
    /// The agent could not reach the address.
    Unreachable,
    /// The agent did not answer in time.
    Expired,
}

/// What a subnet of the hierarchy is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The whole address space of one family.
    Root,
    /// A block that a registry hands out from.
    Block,
    /// Handed to a company by a registry.
    Delegated,
}

/// The five regional internet registries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Registry {
    /// AFRINIC
    Afrinic,
    /// APNIC
    Apnic,
    /// ARIN
    Arin,
    /// LACNIC
    Lacnic,
    /// RIPE NCC
    Ripencc,
}

/// What a signed-in person may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Everything.
    Admin,
}
