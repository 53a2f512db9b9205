//! Delegations, why they are so, and where an address lies in the hierarchy.

use hierarchy::Registry;
use model::{AgentId, DelegationId, ProbeId};
use model::{Phase, ProbeMethod, ProbeVerdict, Reason};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::http::admin::dto::agents::AgentRef;
use crate::http::admin::dto::explanation::{Counters, SkippedAgent};
use crate::http::timestamp::Moment;

/// Which delegations are wanted.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct Wanted {
    /// Those of this agent only.
    #[param(value_type = Option<String>, example = "agt_12")]
    pub agent: Option<AgentId>,
    /// Those made for this reason only.
    #[param(inline)]
    pub reason: Option<Reason>,
    /// An address or subnet, a two-letter country, or a part of a host's, a company's or an agent's
    /// name.
    #[param(max_length = 200)]
    pub q: Option<String>,
    /// Most items in the answer; 50 unless told.
    #[param(minimum = 1, maximum = 500)]
    pub limit: Option<i64>,
    /// `next_cursor` of the answer before; absent for the beginning.
    #[param(max_length = 64)]
    pub cursor: Option<String>,
}

/// A subnet in the hands of an agent.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Delegation {
    /// The delegation's id.
    #[schema(value_type = String, example = "dlg_7")]
    pub id: DelegationId,
    /// The subnet: a CIDR, or `first - last` where it is none.
    #[schema(example = "41.0.0.0/16")]
    pub subnet: String,
    /// Who crawls it.
    pub agent: AgentRef,
    /// Company that holds it.
    #[schema(required = true)]
    pub company: Option<String>,
    /// Two-letter country.
    #[schema(required = true)]
    pub country: Option<String>,
    /// Registry that handed it out.
    #[schema(required = true)]
    pub registry: Option<Registry>,
    /// Why this agent.
    pub reason: Reason,
    /// True while a better agent may still be found.
    pub provisional: bool,
    /// Which delegation of this subnet it is, from 1.
    pub generation: u64,
    /// The threshold of the search, milliseconds; null for a home delegation, which needs no
    /// search.
    #[schema(required = true)]
    pub threshold_ms: Option<f64>,
    /// The chosen agent's round trip, milliseconds; null when nothing was measured.
    #[schema(required = true)]
    pub rtt_ms: Option<f64>,
    /// Probes that the search asked for.
    pub probes: u64,
    /// When it was decided.
    pub decided_at: Moment,
    /// When another delegation took its place; null while it stands.
    #[schema(required = true)]
    pub ended_at: Option<Moment>,
    /// Known hosts with an address inside.
    pub hosts: u64,
}

/// The address whose search led to a delegation.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Target {
    /// The address that was probed; null for a home delegation, which needs no probe.
    #[schema(required = true)]
    pub address: Option<String>,
    /// The host it belongs to.
    #[schema(required = true)]
    pub host: Option<String>,
}

/// One level of the hierarchy, on the way from the root to an address.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ChainLink {
    /// The subnet: a CIDR, or `first - last` where it is none.
    pub subnet: String,
    /// What it is.
    pub kind: Kind,
    /// Company that holds it.
    #[schema(required = true)]
    pub company: Option<String>,
    /// Two-letter country.
    #[schema(required = true)]
    pub country: Option<String>,
    /// Registry.
    #[schema(required = true)]
    pub registry: Option<Registry>,
    /// The agent it is delegated to, if any.
    #[schema(required = true)]
    pub delegated_to: Option<AgentRef>,
}

/// One probe of a search, in the order in which they were asked for.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct AskedProbe {
    /// The probe's id.
    #[schema(value_type = String, example = "prb_41")]
    pub id: ProbeId,
    /// Place in the order, from 1.
    pub order: u64,
    /// Who was asked.
    pub agent: AgentRef,
    /// Step of the search.
    pub phase: Phase,
    /// Level of the hierarchy under which the agent was found; null for the company step.
    #[schema(required = true)]
    pub level: Option<String>,
    /// How it was measured; null until it is.
    #[schema(required = true)]
    pub method: Option<ProbeMethod>,
    /// The round trip, milliseconds; null unless measured.
    #[schema(required = true)]
    pub rtt_ms: Option<f64>,
    /// Samples that came back; the smallest counts. Null unless measured.
    #[schema(required = true)]
    pub samples: Option<u64>,
    /// The threshold it was held against, milliseconds; a prediction is held against none.
    pub threshold_ms: f64,
    /// The round trip that was expected when it was asked, milliseconds; null where nothing was
    /// predicted.
    #[schema(required = true)]
    pub expected_ms: Option<f64>,
    /// Standard deviation of that expectation, milliseconds.
    #[schema(required = true)]
    pub deviation_ms: Option<f64>,
    /// Probability, when it was asked, that this agent was the nearest of all (first probe) or
    /// nearer than the best so far (later ones); 0 to 1.
    #[schema(required = true)]
    pub chance: Option<f64>,
    /// What came of it.
    pub verdict: ProbeVerdict,
    /// True for the probe that decided.
    pub chosen: bool,
    /// When the coordinator asked.
    pub asked_at: Moment,
    /// When the answer came.
    #[schema(required = true)]
    pub answered_at: Option<Moment>,
    /// Why it failed, in the agent's words.
    #[schema(required = true)]
    pub error: Option<String>,
}

/// Why a subnet is delegated to its agent: the whole search.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Why {
    /// The delegation.
    pub delegation: Delegation,
    /// What was probed.
    pub target: Target,
    /// From the root to the subnet, root first.
    pub chain: Vec<ChainLink>,
    /// The threshold of the search, milliseconds; null for a home delegation, which needs no
    /// search.
    #[schema(required = true)]
    pub threshold_ms: Option<f64>,
    /// How candidates were chosen; null for a home delegation.
    #[schema(example = "predictive", required = true)]
    pub strategy: Option<String>,
    /// True while the search goes on: a better agent may still be found.
    pub open: bool,
    /// When the search was opened; null for a home delegation.
    #[schema(required = true)]
    pub opened_at: Option<Moment>,
    /// When it was decided.
    pub decided_at: Moment,
    /// What the probes showed of the subnet besides, as a sentence: that it answers everywhere
    /// (anycast), or that its addresses cannot be in one place. Null when there was nothing odd.
    #[schema(required = true)]
    pub finding: Option<String>,
    /// Milliseconds from the opening of the search to the decision; null where no search decided.
    #[schema(required = true)]
    pub took_ms: Option<u64>,
    /// What the search did, in numbers.
    pub counters: Counters,
    /// Whom the search passed over, in the order of asking.
    pub skipped: Vec<SkippedAgent>,
    /// Every probe, in order.
    pub probes: Vec<AskedProbe>,
    /// One plain sentence that says why this agent.
    pub sentence: String,
}

/// Where an address lies.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct HierarchyAnswer {
    /// The address, in its usual spelling.
    pub address: String,
    /// Id of the loaded generation.
    pub generation: u64,
    /// From the root to the smallest subnet, root first.
    pub chain: Vec<ChainLink>,
}

/// What a subnet of the hierarchy is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The whole address space of one family.
    Root,
    /// A block that a registry hands out from.
    Block,
    /// A piece of a subnet that is not in one place.
    Virtual,
    /// Handed to a company by a registry.
    Delegated,
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
