//! Moves of balance, what a pass would do, and what the audit found.

use model::MoveRefusal;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::http::admin::dto::agents::AgentRef;
use crate::http::timestamp::Moment;

/// Whether subnets are moved towards the cheapest plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum BalancePass {
    /// Now and then, a few a day.
    Optimal,
    /// No.
    Off,
}

/// A move that was not made instead.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Alternative {
    /// The subnet that would have moved, or stayed.
    pub subnet: String,
    /// Where to.
    pub agent: AgentRef,
    /// What it would have cost there, milliseconds a day.
    pub cost_ms: f64,
    /// Why not.
    pub why: MoveRefusal,
    /// Of `full`: pages a day of room. Of `dearer`: milliseconds a day more. Null otherwise.
    #[schema(required = true)]
    pub amount: Option<f64>,
}

/// A subnet that balance gives, or gave, to another agent.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Move {
    /// Its id; null while it is only planned.
    #[schema(example = "mov_3", required = true)]
    pub id: Option<String>,
    /// When it was made; null while it is only planned.
    #[schema(required = true)]
    pub at: Option<Moment>,
    /// The subnet.
    pub subnet: String,
    /// Who had it.
    pub from: AgentRef,
    /// Who gets it.
    pub to: AgentRef,
    /// The delegation that came of it; null while it is only planned.
    #[schema(example = "dlg_9", required = true)]
    pub delegation: Option<String>,
    /// `variance`, `next_best` or `cheapest` when it relieved an agent, `optimal` for a move of a
    /// pass.
    pub rule: String,
    /// Its pages a day.
    pub pages_a_day: u64,
    /// What it costs where it was, milliseconds a day; null when nobody measured that.
    #[schema(required = true)]
    pub cost_before_ms: Option<f64>,
    /// What it costs where it goes, milliseconds a day.
    pub cost_after_ms: f64,
    /// True when the cost is only predicted: the agent is asked to measure it before anything
    /// moves.
    pub predicted: bool,
    /// What was not done instead.
    pub refused: Vec<Alternative>,
}

/// What a pass does.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct BalanceAnswer {
    /// The moves, in their order.
    pub moves: Vec<Move>,
    /// Subnets that were moved; 0 for a preview.
    pub moved: u64,
    /// Agents that were asked to measure first; 0 for a preview.
    pub asked: u64,
    /// Cost of what may be moved, as it is, milliseconds a day.
    pub cost_before_ms: f64,
    /// Cost with these moves, milliseconds a day.
    pub cost_after_ms: f64,
    /// Cost of the cheapest plan there is, milliseconds a day.
    pub cost_optimal_ms: f64,
    /// Moves towards that plan that are left: the moves of the day are used up, or they are not
    /// worth it.
    pub left: u64,
    /// Pages a day beyond the agents' capacities, as it is.
    pub overload_before: u64,
    /// Pages a day beyond the agents' capacities with these moves.
    pub overload_after: u64,
}

/// Something about the delegations that should not be.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Finding {
    /// `two_owners`, `inactive_agent`, `orphan`, `not_delegable`, `stale_generation` or
    /// `over_capacity`.
    pub kind: String,
    /// What is wrong and what to do.
    pub sentence: String,
}

/// What the last audit of the delegations found.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Findings {
    /// When it looked; null before the first look.
    #[schema(required = true)]
    pub checked_at: Option<Moment>,
    /// All of it.
    pub items: Vec<Finding>,
}
