//! Drains of agents as the API shows them.

use model::{AgentState, DrainState};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::http::admin::dto::agents::AgentRef;
use crate::http::admin::dto::constraints::Preview;
use crate::http::extract::Validate;
use crate::http::problem::FieldError;
use crate::http::timestamp::Timestamp;

/// Longest time until a deadline, in seconds: 90 days.
const DEADLINE_MAX_S: u32 = 90 * 24 * 3_600;

/// A request to drain an agent.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DrainRequest {
    /// Seconds until what the agent still has is taken from it; absent or null: it keeps it until
    /// another agent is found.
    #[schema(minimum = 1, maximum = 7_776_000)]
    pub deadline_after_s: Option<u32>,
}

impl Validate for DrainRequest {
    fn errors(&self) -> Vec<FieldError> {
        let is_valid =
            self.deadline_after_s.is_none_or(|after| (1..=DEADLINE_MAX_S).contains(&after));
        if is_valid {
            return Vec::new();
        }
        let rule = format!("give 1 to {DEADLINE_MAX_S} seconds, or none for no deadline");
        vec![FieldError::new("deadline_after_s", rule)]
    }
}

/// The drain of an agent.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Drain {
    /// How far it is.
    pub state: DrainState,
    /// Admin who requested it.
    pub requested_by: String,
    /// Time of the request.
    pub requested_at: Timestamp,
    /// When what the agent still has is taken from it; null: not before another agent is found.
    #[schema(required = true)]
    pub deadline_at: Option<Timestamp>,
    /// When it had neither subnets nor hosts; null before.
    #[schema(required = true)]
    pub drained_at: Option<Timestamp>,
    /// Number of subnets that it held at the request.
    pub subnets_at_request: u64,
    /// Number of hosts that it had at the request.
    pub hosts_at_request: u64,
}

/// Which agents would take over if an agent left.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Takeover {
    /// Number of subnets that the agent holds.
    pub held: u64,
    /// What would be reassigned; of at most 500 subnets.
    pub preview: Preview,
}

/// The range whose subnets agents have measured.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct MeasuredQuery {
    /// An address, a CIDR, or `first - last`.
    #[param(max_length = 100, example = "41.0.0.0/16")]
    pub range: String,
}

/// Approved and paused agents that have measured delegated subnets of a range.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct MeasuredAgents {
    /// The agents, the nearest first.
    pub items: Vec<MeasuredAgent>,
}

/// An agent with its measured round trips to the subnets of a range.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct MeasuredAgent {
    /// The agent that measured.
    pub agent: AgentRef,
    /// Its state: only an approved agent may get subnets.
    pub state: AgentState,
    /// Number of subnets that it has measured.
    pub subnets: u64,
    /// Median of its round trips in milliseconds.
    pub median_ms: f64,
}
