//! Agents as the API shows them.

use hierarchy::Registry;
use model::{AgentId, AgentState, Presence};
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::timestamp::Timestamp;

/// An agent by id and name.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct AgentRef {
    /// Identifier of the agent.
    #[schema(value_type = String, example = "agt_12")]
    pub id: AgentId,
    /// Name that its owner gave it.
    pub name: String,
}

/// A crawler at a partner.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Agent {
    /// Identifier of the agent.
    #[schema(value_type = String, example = "agt_12")]
    pub id: AgentId,
    /// Name that its owner gave it.
    pub name: String,
    /// What the admins decided about it.
    pub state: AgentState,
    /// Whether it can be reached now.
    pub presence: Presence,
    /// The address it enrolled from.
    #[schema(example = "192.0.2.7")]
    pub home: String,
    /// City of the home address; null when unknown.
    #[schema(required = true)]
    pub city: Option<String>,
    /// Registry of the home subnet; null when no registry data is loaded.
    #[schema(required = true)]
    pub registry: Option<Registry>,
    /// ISO 3166-1 country of the home subnet; null when unknown.
    #[schema(required = true)]
    pub country: Option<String>,
    /// Company that holds the home subnet; null when unknown.
    #[schema(required = true)]
    pub company: Option<String>,
    /// How its owner can be reached.
    pub contact: String,
    /// Version of the agent program.
    pub version: String,
    /// Pages per day that its owner allows.
    pub capacity_pages_per_day: u64,
    /// Hours in which it may work, in its own time zone; empty means always.
    pub spans: Vec<String>,
    /// IANA time zone of the spans.
    pub zone: String,
    /// Time of its enrolment.
    pub enrolled_at: Timestamp,
    /// Time of its first approval; null before it.
    #[schema(required = true)]
    pub approved_at: Option<Timestamp>,
    /// Time of its last heartbeat; null before the first.
    #[schema(required = true)]
    pub last_heartbeat_at: Option<Timestamp>,
    /// End of the sleep that it announced; null when it announced none.
    #[schema(required = true)]
    pub asleep_until: Option<Timestamp>,
    /// Number of subnets delegated to it.
    pub delegations: u64,
    /// Number of hosts whose pages it fetches.
    pub hosts: u64,
    /// Number of pages ingested from its packages.
    pub pages: u64,
    /// Bytes it fetched from web hosts for those pages.
    pub bytes_fetched: u64,
    /// Bytes of its packages, compressed.
    pub bytes_shipped: u64,
    /// Why it does not work now, in one line; null while it works.
    #[schema(required = true)]
    pub idle_reason: Option<String>,
}
