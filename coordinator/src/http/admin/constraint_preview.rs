//! Previews of constraints, and refused constraints as problems.

use std::collections::HashMap;

use axum::http::StatusCode;
use model::AgentId;
use store::agents;

use crate::http::admin::dto::agents::AgentRef;
use crate::http::admin::dto::constraints::{AgentLoad, Preview, Reassignment};
use crate::http::problem::{FieldError, Problem};
use crate::http::state::ApiState;
use crate::placement::constraints::preview;
use crate::placement::constraints::requests::Refusal;

/// Most reassignments that a preview lists one by one.
const LISTED_MAX: usize = 100;

/// Converts a preview, with the names of its agents.
pub(super) async fn preview(
    state: &ApiState,
    preview: preview::Preview,
) -> Result<Preview, Problem> {
    let shifts = &preview.changes;
    let agent_ids: Vec<AgentId> =
        shifts.iter().flat_map(|shift| [shift.from, shift.to]).flatten().collect();
    let names = agents::names(&state.core.store, &agent_ids).await?;
    // The two sums are comparable only over subnets that have both costs.
    let costs: Vec<(f64, f64)> =
        shifts.iter().filter_map(|shift| Some((shift.before_ms?, shift.after_ms?))).collect();
    Ok(Preview {
        subnets: shifts.len() as u64,
        hosts: shifts.iter().map(|shift| shift.hosts).sum(),
        pages_per_day: shifts.iter().map(|shift| shift.pages_a_day).sum(),
        cost_before_ms: costs.iter().map(|(before, _)| before).sum(),
        cost_after_ms: costs.iter().map(|(_, after)| after).sum(),
        unmeasured: (shifts.len() - costs.len()) as u64,
        reassignments: shifts
            .iter()
            .take(LISTED_MAX)
            .map(|shift| reassignment(shift, &names))
            .collect(),
        agents: preview.agents.into_iter().map(agent_load).collect(),
        lent: preview.lent as u64,
    })
}

fn reassignment(shift: &preview::SubnetChange, names: &HashMap<AgentId, String>) -> Reassignment {
    let agent_ref = |id| AgentRef::named(id, names);
    Reassignment {
        subnet: shift.subnet.to_string(),
        from: shift.from.map(agent_ref),
        to: shift.to.map(agent_ref),
        hosts: shift.hosts,
        pages_per_day: shift.pages_a_day,
        cost_before_ms: shift.before_ms,
        cost_after_ms: shift.after_ms,
    }
}

fn agent_load(burden: preview::AgentChange) -> AgentLoad {
    AgentLoad {
        agent: AgentRef { id: burden.agent, name: burden.name },
        capacity: burden.capacity,
        load_before: burden.before,
        load_after: burden.after,
    }
}

/// The problem for a refused request: 422 where a field is wrong, 409 where the state forbids it.
pub(super) fn refusal_problem(refusal: &Refusal) -> Problem {
    let message = refusal.to_string();
    match refusal {
        Refusal::Nowhere { .. } => field_problem("scope", message),
        Refusal::Past => field_problem("expires_at", message),
        Refusal::NoAgent(_) | Refusal::NotWorking { .. } | Refusal::Drained(_) => {
            field_problem("agent", message)
        }
        _ => Problem::conflict(message),
    }
}

/// 422 for one field of a body.
pub(super) fn field_problem(field: &str, message: String) -> Problem {
    let status = StatusCode::UNPROCESSABLE_ENTITY;
    let mut problem = Problem::new(status, "invalid-fields", message.clone());
    problem.errors.push(FieldError::new(field, message));
    problem
}
