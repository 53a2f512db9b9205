//! The explanation of a delegation as the API shows it: the whole search, probe by probe.

use model::{Phase, ProbeId, ProbeMethod, ProbeVerdict, SkipReason, Strategy};
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::admin::dto::agents::AgentRef;
use crate::http::admin::dto::delegations::{ChainLink, Delegation};
use crate::http::timestamp::Timestamp;

/// Why a subnet is delegated to its agent.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Explanation {
    /// The delegation that is explained.
    pub delegation: Delegation,
    /// The address that the agents probed.
    pub target: Target,
    /// From the root to the subnet, root first.
    pub chain: Vec<ChainLink>,
    /// The threshold of the search, in milliseconds; null for a home delegation, which needs no
    /// search.
    #[schema(required = true)]
    pub threshold_ms: Option<f64>,
    /// How the search chose the next agent to ask; null for a home delegation.
    #[schema(required = true)]
    pub strategy: Option<Strategy>,
    /// True while the search may still find a nearer agent.
    pub open: bool,
    /// Time at which the search was opened; null for a home delegation.
    #[schema(required = true)]
    pub opened_at: Option<Timestamp>,
    /// Time of the decision.
    pub decided_at: Timestamp,
    /// What the probes showed about the subnet, as a sentence: that it answers from several places
    /// (anycast), or that its addresses cannot be in one place. Null when they showed neither.
    #[schema(required = true)]
    pub finding: Option<String>,
    /// Milliseconds from the opening of the search to the decision; null where no search decided.
    #[schema(required = true)]
    pub took_ms: Option<u64>,
    /// Agents that the search skipped, in the order of asking.
    pub skipped: Vec<SkippedAgent>,
    /// All probes of the search in order.
    pub trail: Vec<TrailProbe>,
    /// Plain sentences that say why this agent crawls the subnet.
    pub summary: String,
}

/// The address whose search led to a delegation.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Target {
    /// The address that was probed; null for a home delegation, which needs no probe.
    #[schema(required = true)]
    pub address: Option<String>,
    /// The host at that address; null for a home delegation.
    #[schema(required = true)]
    pub host: Option<String>,
}

/// One probe of a search.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct TrailProbe {
    /// Identifier of the probe.
    #[schema(value_type = String, example = "prb_41")]
    pub id: ProbeId,
    /// Position in the trail, from 1.
    pub order: u64,
    /// The agent that was asked.
    pub agent: AgentRef,
    /// Step of the search in which it was asked.
    pub phase: Phase,
    /// Level of the hierarchy under which the agent was found; null in the company and predicted
    /// phases.
    #[schema(required = true)]
    pub level: Option<String>,
    /// How the round trip was measured; null until it is.
    #[schema(required = true)]
    pub method: Option<ProbeMethod>,
    /// The round trip, in milliseconds; null unless measured.
    #[schema(required = true)]
    pub rtt_ms: Option<f64>,
    /// Number of samples that came back, of which the smallest counts; null unless measured.
    #[schema(required = true)]
    pub samples: Option<u64>,
    /// The threshold of the search, in milliseconds; it does not apply to predicted probes.
    pub threshold_ms: f64,
    /// Round trip that was expected when the probe was ordered, in milliseconds; null where the
    /// search did not predict.
    #[schema(required = true)]
    pub expected_ms: Option<f64>,
    /// Standard deviation of that expectation, in milliseconds.
    #[schema(required = true)]
    pub deviation_ms: Option<f64>,
    /// Probability, when the probe was ordered, that this agent was the nearest of all (first
    /// probe) or nearer than the best so far (later ones); 0 to 1.
    #[schema(required = true)]
    pub probability: Option<f64>,
    /// What the probe meant for the search.
    pub verdict: ProbeVerdict,
    /// True for the probe that decided.
    pub chosen: bool,
    /// Time at which the coordinator ordered the probe.
    pub asked_at: Timestamp,
    /// Time of the report; null before it.
    #[schema(required = true)]
    pub answered_at: Option<Timestamp>,
    /// Why the probe failed, as the agent reported it; null when it did not fail.
    #[schema(required = true)]
    pub error: Option<String>,
}

/// An agent that was skipped though its turn had come.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct SkippedAgent {
    /// The agent that was skipped.
    pub agent: AgentRef,
    /// Why it was skipped.
    pub reason: SkipReason,
}
