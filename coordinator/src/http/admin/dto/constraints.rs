//! Pins, exclusions and overrides: requests, rows and previews of the API.

use hierarchy::Registry;
use model::AgentId;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::http::admin::dto::agents::AgentRef;
use crate::http::admin::dto::delegations::Delegation;
use crate::http::extract::Validate;
use crate::http::problem::FieldError;
use crate::http::timestamp::Timestamp;

/// Longest reason of an admin, in characters.
const REASON_MAX: usize = 300;

/// The part of the hierarchy that a constraint covers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// Every subnet that lies in this range: an address, a CIDR, or `first - last`.
    #[schema(example = "41.0.0.0/16")]
    Range(String),
    /// Every subnet of a company.
    Company {
        /// The registry that assigned the handle.
        registry: Registry,
        /// Handle of the company in that registry.
        handle: String,
    },
    /// Every subnet of the company that holds this subnet. In requests only; responses name the
    /// company.
    CompanyOf(String),
    /// Every subnet that is registered in this country. For exclusions only.
    Country(String),
}

/// A request for a pin or an exclusion.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ConstraintRequest {
    /// The subnets it covers.
    pub scope: Scope,
    /// The agent that is pinned or excluded.
    #[schema(value_type = String, example = "agt_12")]
    pub agent: AgentId,
    /// Why, for admins who read the constraint later.
    #[schema(min_length = 1, max_length = 300)]
    pub reason: String,
    /// RFC 3339 time at which it expires; absent or null: when it is removed.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub expires_at: Option<String>,
}

impl Validate for ConstraintRequest {
    fn errors(&self) -> Vec<FieldError> {
        FieldError::of_line("reason", &self.reason, 1, REASON_MAX).into_iter().collect()
    }
}

/// A request to reassign a subnet once.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct OverrideRequest {
    /// The agent that shall get the subnet.
    #[schema(value_type = String, example = "agt_12")]
    pub agent: AgentId,
    /// Why, for admins who read the delegation later.
    #[schema(min_length = 1, max_length = 300)]
    pub reason: String,
}

impl Validate for OverrideRequest {
    fn errors(&self) -> Vec<FieldError> {
        FieldError::of_line("reason", &self.reason, 1, REASON_MAX).into_iter().collect()
    }
}

/// Whether a change is only previewed.
#[derive(Clone, Copy, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct DryRun {
    /// `true`: report what would be reassigned, and change nothing.
    pub dry_run: Option<bool>,
}

impl DryRun {
    /// True when nothing may be changed.
    pub fn is_set(self) -> bool {
        self.dry_run == Some(true)
    }
}

/// Filter of a list of constraints.
#[derive(Clone, Copy, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ConstraintQuery {
    /// `true`: include constraints that have ended.
    pub ended: Option<bool>,
}

/// A pin or an exclusion.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Constraint {
    /// Identifier: `pin_3` or `exc_4`.
    #[schema(example = "pin_3")]
    pub id: String,
    /// The subnets it covers.
    pub scope: Scope,
    /// The scope as text for people.
    pub scope_text: String,
    /// The agent that is pinned or excluded.
    pub agent: AgentRef,
    /// Why, in the words of the admin.
    pub reason: String,
    /// Name of the admin who made it.
    pub created_by: String,
    /// Time at which it was made.
    pub created_at: Timestamp,
    /// Time at which it expires; null: when it is removed.
    #[schema(required = true)]
    pub expires_at: Option<Timestamp>,
    /// Time at which it ended; null while it applies.
    #[schema(required = true)]
    pub ended_at: Option<Timestamp>,
    /// Name of the admin who ended it; `coordinator` when it expired or its agent was revoked.
    #[schema(required = true)]
    pub ended_by: Option<String>,
}

/// A subnet that would change its agent.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Reassignment {
    /// The subnet: a CIDR, or `first - last` where it is none.
    pub subnet: String,
    /// The present agent; null when it has none.
    #[schema(required = true)]
    pub from: Option<AgentRef>,
    /// The next agent; null when a search decides.
    #[schema(required = true)]
    pub to: Option<AgentRef>,
    /// Number of known hosts in the subnet.
    pub hosts: u64,
    /// Load of the subnet, in pages per day.
    pub pages_per_day: u64,
    /// Present cost, in milliseconds per day; null when it was not measured.
    #[schema(required = true)]
    pub cost_before_ms: Option<f64>,
    /// Cost at the next agent, in milliseconds per day; null when it was not measured.
    #[schema(required = true)]
    pub cost_after_ms: Option<f64>,
}

/// Load of an agent before and after a change, in pages per day.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct AgentLoad {
    /// The agent that gains or loses subnets.
    pub agent: AgentRef,
    /// Pages per day that it can crawl.
    pub capacity: u64,
    /// Pages per day that it crawls now.
    pub load_before: u64,
    /// Pages per day that it would crawl.
    pub load_after: u64,
}

/// What a change would reassign.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Preview {
    /// Number of subnets that would be reassigned.
    pub subnets: u64,
    /// Number of known hosts in them.
    pub hosts: u64,
    /// Their load, in pages per day.
    pub pages_per_day: u64,
    /// Present cost, in milliseconds per day, of the subnets measured before and after.
    pub cost_before_ms: f64,
    /// Cost of the same subnets after the change, in milliseconds per day.
    pub cost_after_ms: f64,
    /// Number of subnets that both costs leave out, because one of the two was not measured.
    pub unmeasured: u64,
    /// The first hundred subnets.
    pub reassignments: Vec<Reassignment>,
    /// The agents that gain or lose subnets.
    pub agents: Vec<AgentLoad>,
    /// Number of subnets that stay where they are, because they are lent to a region in which the
    /// next agent is not. They count in nothing else of the preview.
    pub lent: u64,
}

/// A pin or an exclusion, and what it reassigns.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ConstraintResponse {
    /// The constraint; null for the preview of a new one.
    #[schema(required = true)]
    pub constraint: Option<Constraint>,
    /// What the change reassigns.
    pub preview: Preview,
}

/// An override, and what it reassigns.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct OverrideResponse {
    /// The new delegation; null for a preview.
    #[schema(required = true)]
    pub delegation: Option<Delegation>,
    /// What the change reassigns.
    pub preview: Preview,
}
