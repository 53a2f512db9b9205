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
    /// Heartbeats, inside its spans.
    Awake,
    /// Announced its sleep, or is outside its spans.
    Asleep,
    /// Should heartbeat but does not.
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
    /// Nobody else was likely to be nearer.
    Predicted,
    /// An admin pinned it there.
    Pinned,
    /// An admin gave it to the agent, once.
    Override,
    /// The load was spread.
    Balanced,
}

/// Step of the search in which an agent was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Agents that hold other subnets of the same company.
    Company,
    /// Agents of delegated siblings at one level of the hierarchy.
    Sibling,
    /// Agents of whatever lies below the siblings.
    SiblingChild,
    /// Agents that hold nothing in this address family; nobody is left out.
    Rest,
    /// The agent that was likeliest to be nearest.
    Predicted,
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
    /// Under the threshold.
    Satisfies,
    /// Measured, not under the threshold.
    TooSlow,
    /// Measured where a search predicts: the threshold does not matter.
    Measured,
    /// The agent could not reach the address, or its owner's rules forbid the probe.
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
    /// A part that was cut out of a large range.
    Virtual,
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
    /// Look and change.
    Admin,
    /// Look.
    Viewer,
}

impl Role {
    /// The role of this word in the store; whatever is not known may only look.
    pub fn of(word: &str) -> Self {
        if word == "admin" { Self::Admin } else { Self::Viewer }
    }
}

impl From<protocol::AgentState> for AgentState {
    fn from(state: protocol::AgentState) -> Self {
        match state {
            protocol::AgentState::Pending => Self::Pending,
            protocol::AgentState::Approved => Self::Approved,
            protocol::AgentState::Paused => Self::Paused,
            protocol::AgentState::Revoked => Self::Revoked,
        }
    }
}

impl Reason {
    /// The word in tables.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Home => "home",
            Self::Company => "company",
            Self::Threshold => "threshold",
            Self::Lowest => "lowest",
            Self::Predicted => "predicted",
            Self::Pinned => "pinned",
            Self::Override => "override",
            Self::Balanced => "balanced",
        }
    }

    /// The reason of this word.
    pub fn from_word(word: &str) -> Option<Self> {
        let all = [
            Self::Home,
            Self::Company,
            Self::Threshold,
            Self::Lowest,
            Self::Predicted,
            Self::Pinned,
            Self::Override,
            Self::Balanced,
        ];
        all.into_iter().find(|reason| reason.as_str() == word)
    }
}

impl Phase {
    /// The phase of this word, as `probes.phase` has it.
    pub fn from_word(word: &str) -> Option<Self> {
        match word {
            "company" => Some(Self::Company),
            "sibling" => Some(Self::Sibling),
            "sibling_child" => Some(Self::SiblingChild),
            "rest" => Some(Self::Rest),
            "predicted" => Some(Self::Predicted),
            _ => None,
        }
    }
}

impl Method {
    /// The method of this word.
    pub fn from_word(word: &str) -> Option<Self> {
        protocol::ProbeMethod::from_word(word).map(|method| match method {
            protocol::ProbeMethod::Icmp => Self::Icmp,
            protocol::ProbeMethod::Tcp => Self::Tcp,
            protocol::ProbeMethod::Head => Self::Head,
        })
    }

    /// As a sentence names it.
    pub const fn in_words(self) -> &'static str {
        match self {
            Self::Icmp => "ICMP echo",
            Self::Tcp => "TCP connect",
            Self::Head => "HTTP HEAD",
        }
    }
}

impl From<hierarchy::Subnet<'_>> for Kind {
    fn from(subnet: hierarchy::Subnet<'_>) -> Self {
        match subnet.kind() {
            hierarchy::SubnetKind::Root => Self::Root,
            hierarchy::SubnetKind::Block if subnet.is_virtual() => Self::Virtual,
            hierarchy::SubnetKind::Block => Self::Block,
            hierarchy::SubnetKind::Delegated => Self::Delegated,
        }
    }
}

impl From<hierarchy::Registry> for Registry {
    fn from(registry: hierarchy::Registry) -> Self {
        match registry {
            hierarchy::Registry::Afrinic => Self::Afrinic,
            hierarchy::Registry::Apnic => Self::Apnic,
            hierarchy::Registry::Arin => Self::Arin,
            hierarchy::Registry::Lacnic => Self::Lacnic,
            hierarchy::Registry::RipeNcc => Self::Ripencc,
        }
    }
}

impl From<Registry> for hierarchy::Registry {
    fn from(registry: Registry) -> Self {
        match registry {
            Registry::Afrinic => Self::Afrinic,
            Registry::Apnic => Self::Apnic,
            Registry::Arin => Self::Arin,
            Registry::Lacnic => Self::Lacnic,
            Registry::Ripencc => Self::RipeNcc,
        }
    }
}
