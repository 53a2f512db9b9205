//! Pins, exclusions, overrides, and what would move.

use hierarchy::Registry;
use model::AgentId;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::http::admin::dto::agents::AgentRef;
use crate::http::admin::dto::delegations::Delegation;
use crate::http::extract::Checked;
use crate::http::problem::FieldError;
use crate::http::timestamp::Moment;

/// Longest reason, in characters.
const REASON_MAX: usize = 300;

/// Which part of the hierarchy is meant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// Every subnet that lies in this range: an address, a CIDR, or `first - last`.
    #[schema(example = "41.0.0.0/16")]
    Range(String),
    /// Every subnet of a company.
    Company {
        /// The registry that knows it.
        registry: Registry,
        /// Its handle there.
        handle: String,
    },
    /// Every subnet of the company that holds this subnet. In wishes only; answers name the
    /// company.
    CompanyOf(String),
    /// Every subnet that is registered in this country. For exclusions only.
    Country(String),
}

/// A wish for a pin or an exclusion.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ConstraintRequest {
    /// What it is about.
    pub scope: Scope,
    /// Whom it is about.
    #[schema(value_type = String, example = "agt_12")]
    pub agent: AgentId,
    /// Why, for those who read about it later.
    #[schema(min_length = 1, max_length = 300)]
    pub reason: String,
    /// It counts until then, RFC 3339; absent or null: until it is removed.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub expires_at: Option<String>,
}

impl Checked for ConstraintRequest {
    fn broken_rules(&self) -> Vec<FieldError> {
        reason_rules(&self.reason)
    }
}

/// A wish to give a subnet to another agent, once.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct OverrideRequest {
    /// Who shall have it.
    #[schema(value_type = String, example = "agt_12")]
    pub agent: AgentId,
    /// Why, for those who read about it later.
    #[schema(min_length = 1, max_length = 300)]
    pub reason: String,
}

impl Checked for OverrideRequest {
    fn broken_rules(&self) -> Vec<FieldError> {
        reason_rules(&self.reason)
    }
}

fn reason_rules(reason: &str) -> Vec<FieldError> {
    let mut broken = Vec::new();
    if reason.trim().is_empty() || reason.chars().count() > REASON_MAX {
        let rule = format!("give 1 to {REASON_MAX} characters, not all of them blank");
        broken.push(FieldError::new("reason", rule));
    }
    if reason.chars().any(char::is_control) {
        broken.push(FieldError::new("reason", "leave out control characters"));
    }
    broken
}

/// Whether something is only to be previewed.
#[derive(Clone, Copy, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct DryRun {
    /// `true`: say what would move, and change nothing.
    pub dry_run: Option<bool>,
}

impl DryRun {
    /// Only to be previewed.
    pub fn wanted(self) -> bool {
        self.dry_run == Some(true)
    }
}

/// Which pins or exclusions are wanted.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ConstraintQuery {
    /// `true`: those that are over, too.
    pub ended: Option<bool>,
    /// Most items in the answer; 50 unless told.
    #[param(minimum = 1, maximum = 500)]
    pub limit: Option<i64>,
    /// `next_cursor` of the answer before; absent for the beginning.
    #[param(max_length = 64)]
    pub cursor: Option<String>,
}

/// A pin or an exclusion.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Constraints {
    /// Its id: `pin_3` or `exc_4`.
    #[schema(example = "pin_3")]
    pub id: String,
    /// What it is about.
    pub scope: Scope,
    /// The same in words.
    pub scope_text: String,
    /// Whom it is about.
    pub agent: AgentRef,
    /// Why, in the admin's words.
    pub reason: String,
    /// The admin.
    pub created_by: String,
    /// When it was made.
    pub created_at: Moment,
    /// It counts until then; null: until it is removed.
    #[schema(required = true)]
    pub expires_at: Option<Moment>,
    /// When it ended; null while it counts.
    #[schema(required = true)]
    pub ended_at: Option<Moment>,
    /// Who ended it; `coordinator` when it had expired or its agent was revoked.
    #[schema(required = true)]
    pub ended_by: Option<String>,
}

/// A subnet that would change its agent.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Shift {
    /// The subnet.
    pub subnet: String,
    /// Who has it; null when nobody does.
    #[schema(required = true)]
    pub from: Option<AgentRef>,
    /// Who would get it; null when a search decides.
    #[schema(required = true)]
    pub to: Option<AgentRef>,
    /// Its hosts.
    pub hosts: u64,
    /// Its pages a day.
    pub pages_a_day: u64,
    /// What it costs, milliseconds a day; null when that was not measured.
    #[schema(required = true)]
    pub cost_before_ms: Option<f64>,
    /// What it would cost, milliseconds a day; null when that was not measured.
    #[schema(required = true)]
    pub cost_after_ms: Option<f64>,
}

/// What an agent has to do and would have to do.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Burden {
    /// Who.
    pub agent: AgentRef,
    /// Pages a day that it can crawl.
    pub capacity: u64,
    /// Pages a day that it has.
    pub load_before: u64,
    /// Pages a day that it would have.
    pub load_after: u64,
}

/// What would move.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Preview {
    /// How many subnets.
    pub subnets: u64,
    /// How many hosts in them.
    pub hosts: u64,
    /// Pages a day in them.
    pub pages_a_day: u64,
    /// What they cost, milliseconds a day, as far as it was measured before and after.
    pub cost_before_ms: f64,
    /// What the same ones would cost, milliseconds a day.
    pub cost_after_ms: f64,
    /// Subnets that the two costs leave out: not measured where they are, or not where they would
    /// go.
    pub unmeasured: u64,
    /// Subnet by subnet, the first hundred.
    pub shifts: Vec<Shift>,
    /// The agents concerned.
    pub agents: Vec<Burden>,
}

/// A pin or an exclusion, and what moves.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ConstraintAnswer {
    /// It; null for a preview of one to be made.
    #[schema(required = true)]
    pub item: Option<Constraints>,
    /// What moves.
    pub preview: Preview,
}

/// An override, and what moves.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct OverrideAnswer {
    /// The delegation that holds now; null for a preview.
    #[schema(required = true)]
    pub delegation: Option<Delegation>,
    /// What moves.
    pub preview: Preview,
}
