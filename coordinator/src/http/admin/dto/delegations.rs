//! Delegations and the place of an address in the hierarchy, as the API shows them.

use hierarchy::{Registry, SubnetKind};
use model::{AgentId, DelegationId, DelegationSort, Reason};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::http::admin::dto::agents::AgentRef;
use crate::http::admin::dto::lists::BoundedCount;
use crate::http::timestamp::Timestamp;

/// Filter of the list of delegations.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct DelegationQuery {
    /// Only delegations to this agent.
    #[param(value_type = Option<String>, example = "agt_12")]
    pub agent: Option<AgentId>,
    /// Only delegations made for this reason.
    #[param(inline)]
    pub reason: Option<Reason>,
    /// An address or subnet, a two-letter country, a part of the name of a company or an agent, or
    /// the beginning of the name of a host. Of agents and hosts, 10,000 delegations are read, of
    /// companies and countries 5,000.
    #[param(max_length = 200)]
    pub q: Option<String>,
    /// Order of the list.
    #[param(inline)]
    pub sort: Option<DelegationSort>,
    /// `true`: with counts.
    pub counts: Option<bool>,
}

/// A page of the list of delegations.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct DelegationList {
    /// The delegations in the order of the list.
    pub items: Vec<Delegation>,
    /// Give it as `cursor` to get the next page; null on the last page.
    #[schema(required = true)]
    pub next_cursor: Option<String>,
    /// Counts of the delegations that pass the filter; null unless the request asks for them, and
    /// with a filter by text.
    #[schema(required = true)]
    pub counts: Option<DelegationListCounts>,
}

/// How many delegations pass a filter.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct DelegationListCounts {
    /// All that pass it. Orders that leave delegations out are not considered.
    pub total: BoundedCount,
    /// Delegations by reason, most first; the filter by reason is ignored.
    pub reasons: Vec<DelegationReasonCount>,
}

/// Delegations for one reason.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub struct DelegationReasonCount {
    /// Reason that they share.
    pub reason: Reason,
    /// Number of delegations.
    pub delegations: BoundedCount,
}

/// A subnet and the agent that crawls it.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Delegation {
    /// Identifier of the delegation.
    #[schema(value_type = String, example = "dlg_7")]
    pub id: DelegationId,
    /// The subnet: a CIDR, or `first - last` where it is none.
    #[schema(example = "41.0.0.0/16")]
    pub subnet: String,
    /// The agent that crawls the subnet.
    pub agent: AgentRef,
    /// Company that holds the subnet; null when unknown.
    #[schema(required = true)]
    pub company: Option<String>,
    /// ISO 3166-1 country of the subnet; null when unknown.
    #[schema(required = true)]
    pub country: Option<String>,
    /// Registry that handed the subnet out; null when unknown.
    #[schema(required = true)]
    pub registry: Option<Registry>,
    /// Why this agent crawls the subnet.
    pub reason: Reason,
    /// True while the search may still find a nearer agent.
    pub provisional: bool,
    /// Counts the delegations of this subnet from 1; older numbers are ignored.
    pub fencing_number: u64,
    /// The threshold of the search, in milliseconds; null for a home delegation, which needs no
    /// search.
    #[schema(required = true)]
    pub threshold_ms: Option<f64>,
    /// Round trip of the chosen agent, in milliseconds; null when it was not measured.
    #[schema(required = true)]
    pub rtt_ms: Option<f64>,
    /// Number of probes that the search asked for.
    pub probes: u64,
    /// Time of the decision.
    pub decided_at: Timestamp,
    /// Time at which another delegation took its place; null while it applies.
    #[schema(required = true)]
    pub ended_at: Option<Timestamp>,
    /// Number of known hosts in the subnet; 10,001 stands for more than 10,000.
    pub hosts: u64,
}

/// One level of the hierarchy on the path from the root to an address.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ChainLink {
    /// The subnet: a CIDR, or `first - last` where it is none.
    pub subnet: String,
    /// Place of the subnet in the hierarchy.
    pub kind: SubnetKind,
    /// Company that holds the subnet; null when unknown.
    #[schema(required = true)]
    pub company: Option<String>,
    /// ISO 3166-1 country of the subnet; null when unknown.
    #[schema(required = true)]
    pub country: Option<String>,
    /// Registry that handed the subnet out; null when unknown.
    #[schema(required = true)]
    pub registry: Option<Registry>,
    /// The agent it is delegated to; null when it has none.
    #[schema(required = true)]
    pub delegated_to: Option<AgentRef>,
}

/// Place of an address in the hierarchy.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct AddressLocation {
    /// The address in its canonical form.
    pub address: String,
    /// Number of the loaded hierarchy generation.
    pub generation: u64,
    /// From the root to the smallest subnet, root first.
    pub chain: Vec<ChainLink>,
}
