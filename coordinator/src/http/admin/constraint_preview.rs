//! A preview as the API shows it, and refusals by hand as problems.

use std::collections::HashMap;

use axum::http::StatusCode;
use model::AgentId;
use store::lists;

use crate::http::admin::dto::{AgentRef, Burden, Preview, Shift};
use crate::http::problem::{FieldError, Problem};
use crate::http::state::ApiState;
use crate::placement::constraints::preview;
use crate::placement::constraints::requests::Refusal;

/// Shifts that are shown one by one.
const SHOWN: usize = 100;

/// A preview as the API shows it.
pub(super) async fn shown(state: &ApiState, preview: preview::Preview) -> Result<Preview, Problem> {
    let agents: Vec<AgentId> =
        preview.shifts.iter().flat_map(|shift| [shift.from, shift.to]).flatten().collect();
    let names = lists::names(&state.core.store, &agents).await?;
    let shifts = &preview.shifts;
    let costs: Vec<(f64, f64)> =
        shifts.iter().filter_map(|shift| Some((shift.before_ms?, shift.after_ms?))).collect();
    Ok(Preview {
        subnets: shifts.len() as u64,
        hosts: shifts.iter().map(|shift| shift.hosts).sum(),
        pages_a_day: shifts.iter().map(|shift| shift.pages_a_day).sum(),
        cost_before_ms: costs.iter().map(|(before, _)| before).sum(),
        cost_after_ms: costs.iter().map(|(_, after)| after).sum(),
        unmeasured: (shifts.len() - costs.len()) as u64,
        shifts: shifts.iter().take(SHOWN).map(|shift| shown_shift(shift, &names)).collect(),
        agents: preview.agents.into_iter().map(burden).collect(),
    })
}

fn shown_shift(shift: &preview::Shift, names: &HashMap<AgentId, String>) -> Shift {
    let told = |agent: AgentId| AgentRef {
        id: agent,
        name: names.get(&agent).cloned().unwrap_or_default(),
    };
    Shift {
        subnet: shift.subnet.to_string(),
        from: shift.from.map(told),
        to: shift.to.map(told),
        hosts: shift.hosts,
        pages_a_day: shift.pages_a_day,
        cost_before_ms: shift.before_ms,
        cost_after_ms: shift.after_ms,
    }
}

fn burden(burden: preview::Burden) -> Burden {
    Burden {
        agent: AgentRef { id: burden.agent, name: burden.name },
        capacity: burden.capacity,
        load_before: burden.before,
        load_after: burden.after,
    }
}

/// What the admin wished for makes no sense, or not now.
pub(super) fn refused(refusal: &Refusal) -> Problem {
    let sentence = refusal.to_string();
    match refusal {
        Refusal::Nowhere { .. } => of_field("scope", sentence),
        Refusal::Past => of_field("expires_at", sentence),
        Refusal::NoAgent(_) | Refusal::NotWorking { .. } => of_field("agent", sentence),
        _ => Problem::conflict(sentence),
    }
}

/// 422 for one field of a body.
pub(super) fn of_field(field: &str, sentence: String) -> Problem {
    let mut problem =
        Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid-fields", sentence.clone());
    problem.errors.push(FieldError::new(field, sentence));
    problem
}
