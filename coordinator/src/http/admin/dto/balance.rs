//! Moves that balance made or plans, as the API shows them.

use model::MoveRefusal;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::http::admin::dto::agents::AgentRef;
use crate::http::timestamp::Timestamp;

/// Whether periodic passes move subnets towards the cheapest plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum BalancePass {
    /// Passes move a few subnets a day.
    Optimal,
    /// Passes move nothing.
    Off,
}

/// A move that balance considered and rejected.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct RejectedAlternative {
    /// The subnet that would have moved or stayed.
    pub subnet: String,
    /// The agent that would have crawled it.
    pub agent: AgentRef,
    /// Cost at that agent, in milliseconds per day.
    pub cost_ms: f64,
    /// Why it was rejected.
    pub reason: MoveRefusal,
    /// For `full`: capacity left, in pages per day. For `dearer`: extra cost, in milliseconds per
    /// day. Null otherwise.
    #[schema(required = true)]
    pub amount: Option<f64>,
}

/// A subnet that balance gives, or gave, to another agent.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Move {
    /// Identifier of the move; null while it is only planned.
    #[schema(example = "mov_3", required = true)]
    pub id: Option<String>,
    /// Time of the move; null while it is only planned.
    #[schema(required = true)]
    pub at: Option<Timestamp>,
    /// The subnet: a CIDR, or `first - last` where it is none.
    pub subnet: String,
    /// The agent that had the subnet.
    pub from: AgentRef,
    /// The agent that gets the subnet.
    pub to: AgentRef,
    /// Identifier of the new delegation; null while the move is only planned.
    #[schema(example = "dlg_9", required = true)]
    pub delegation: Option<String>,
    /// `variance`, `next_best` or `cheapest` when it relieved its agent, `relief` when it did so
    /// only together with others, `optimal` for a move of a pass.
    pub rule: String,
    /// Load of the subnet, in pages per day.
    pub pages_per_day: u64,
    /// Cost at the former agent, in milliseconds per day; null when it was never measured.
    #[schema(required = true)]
    pub cost_before_ms: Option<f64>,
    /// Cost at the new agent, in milliseconds per day.
    pub cost_after_ms: f64,
    /// True when the cost is only predicted: the agent measures it before anything moves.
    pub predicted: bool,
    /// What balance rejected in favour of this move.
    pub rejected_alternatives: Vec<RejectedAlternative>,
}

/// The result of a balance pass, or the preview of one.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct BalanceResponse {
    /// The planned moves in order of execution.
    pub moves: Vec<Move>,
    /// Number of subnets that were moved; 0 for a preview.
    pub moved: u64,
    /// Number of probes that must be measured before a move; 0 for a preview.
    pub probes_requested: u64,
    /// Present cost of all subnets that may move, in milliseconds per day.
    pub cost_before_ms: f64,
    /// Cost after these moves, in milliseconds per day.
    pub cost_after_ms: f64,
    /// Cost of the cheapest plan, in milliseconds per day.
    pub cost_optimal_ms: f64,
    /// Moves towards that plan that are not made, because the moves of the day are used up or the
    /// gain is too small.
    pub remaining_moves: u64,
    /// Present load beyond the agents' capacities, in pages per day.
    pub overload_before: u64,
    /// Load beyond the agents' capacities after these moves, in pages per day.
    pub overload_after: u64,
}
