//! Agents and the tokens they join with.

use hierarchy::Registry;
use model::AgentId;
use model::{AgentState, Presence};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::http::extract::Checked;
use crate::http::problem::FieldError;
use crate::http::timestamp::Moment;

/// An agent, by name.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct AgentRef {
    /// The agent's id.
    #[schema(value_type = String, example = "agt_12")]
    pub id: AgentId,
    /// The name its owner gave it.
    pub name: String,
}

/// A crawler at a partner.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Agent {
    /// The agent's id.
    #[schema(value_type = String, example = "agt_12")]
    pub id: AgentId,
    /// The name its owner gave it.
    pub name: String,
    /// What the admins decided about it.
    pub state: AgentState,
    /// Whether it can be reached now.
    pub presence: Presence,
    /// The address it enrolled from.
    #[schema(example = "192.0.2.7")]
    pub home: String,
    /// City of the home address, where known.
    #[schema(required = true)]
    pub city: Option<String>,
    /// Registry of the home address' subnet; null when no registry data is loaded.
    #[schema(required = true)]
    pub registry: Option<Registry>,
    /// Two-letter country of the home address' subnet.
    #[schema(required = true)]
    pub country: Option<String>,
    /// Company that holds the home address' subnet.
    #[schema(required = true)]
    pub company: Option<String>,
    /// Where its owner can be reached.
    pub contact: String,
    /// Version of the agent program.
    pub version: String,
    /// Pages a day that its owner allows.
    pub capacity_pages_per_day: u64,
    /// Hours in which it may work, in its own zone; empty is always.
    pub spans: Vec<String>,
    /// IANA time zone of the spans.
    pub zone: String,
    /// When it enrolled.
    pub enrolled_at: Moment,
    /// When an admin approved it first.
    #[schema(required = true)]
    pub approved_at: Option<Moment>,
    /// When it last heartbeat.
    #[schema(required = true)]
    pub last_heartbeat_at: Option<Moment>,
    /// Until when it said it would sleep.
    #[schema(required = true)]
    pub asleep_until: Option<Moment>,
    /// Subnets delegated to it.
    pub delegations: u64,
    /// Hosts whose pages it fetches.
    pub hosts: u64,
    /// Pages integrated from it.
    pub pages: u64,
    /// Bytes it fetched from web hosts for those pages.
    pub bytes_fetched: u64,
    /// Bytes of its packages as shipped.
    pub bytes_shipped: u64,
    /// Why it does not work now, in one line; null while it does.
    #[schema(required = true)]
    pub reason: Option<String>,
}

/// A wish for a join token.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewJoinToken {
    /// Whom it is for.
    #[schema(min_length = 1, max_length = 100)]
    pub name: String,
    /// Seconds until it is void: a minute to thirty days.
    #[schema(minimum = 60, maximum = 2_592_000)]
    pub ttl_s: i64,
}

impl Checked for NewJoinToken {
    fn broken_rules(&self) -> Vec<FieldError> {
        let mut broken = Vec::new();
        if self.name.trim().is_empty() || self.name.chars().count() > 100 {
            broken.push(FieldError::new("name", "give 1 to 100 characters, not all of them blank"));
        }
        if self.name.chars().any(char::is_control) {
            broken.push(FieldError::new("name", "leave out control characters"));
        }
        if !(60..=2_592_000).contains(&self.ttl_s) {
            broken.push(FieldError::new("ttl_s", "give 60 to 2592000 seconds"));
        }
        broken
    }
}

/// A new join token; it is told this once.
#[derive(Debug, Serialize, ToSchema)]
pub struct NewJoinTokenAnswer {
    /// The token, for one enrolment.
    pub token: String,
    /// When it is void.
    pub expires_at: Moment,
}

/// A join token as the list shows it, never the token itself.
#[derive(Debug, Serialize, ToSchema)]
pub struct JoinToken {
    /// Its number.
    #[schema(example = "tok_3")]
    pub id: String,
    /// Whom it is for.
    pub name: String,
    /// The admin who made it.
    pub created_by: String,
    /// When it was made.
    pub created_at: Moment,
    /// When it is void.
    pub expires_at: Moment,
    /// When an agent enrolled with it.
    #[schema(required = true)]
    pub used_at: Option<Moment>,
    /// The agent that enrolled with it.
    #[schema(required = true)]
    pub used_by: Option<AgentRef>,
}
