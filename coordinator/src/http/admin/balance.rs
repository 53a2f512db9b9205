//! Balance: moves that were made, and passes on request.

use std::collections::HashMap;

use axum::extract::State;
use delegation::balance::{self, CostSource, Rebalance};
use model::AgentId;
use serde_json::{Value, json};
use store::moves::{self, MoveCause};
use store::{agents, audit, policy};

use crate::http::admin::dto::agents::AgentRef;
use crate::http::admin::dto::balance::{BalanceResponse, Move, RejectedAlternative};
use crate::http::admin::dto::constraints::DryRun;
use crate::http::admin::subnet_lookup::no_hierarchy;
use crate::http::authentication::{Admin, Viewer};
use crate::http::extract::{Json, Query};
use crate::http::paging::{Page, PageQuery};
use crate::http::problem::Problem;
use crate::http::state::ApiState;
use crate::placement::balance::execute_move::refused_alternatives;
use crate::placement::balance::pass::{PassError, execute_plan, plan_pass};
use crate::placement::balance::problem::{BalanceProblem, ProblemError};
use crate::placement::load_snapshot::LoadSnapshot;

type Names = HashMap<AgentId, String>;

/// Subnets that balance gave to other agents, the newest first.
#[utoipa::path(get, path = "/api/v1/moves", operation_id = "list_moves", tag = "balance",
    params(PageQuery), security(("session" = [])), responses((status = 200, body = Page<Move>)))]
pub async fn list_moves(
    _viewer: Viewer,
    State(state): State<ApiState>,
    Query(page): Query<PageQuery>,
) -> Result<Json<Page<Move>>, Problem> {
    let limit = page.limit()?;
    let found = moves::list(&state.core.store, page.before()?, limit + 1).await?;
    let agents: Vec<AgentId> = found.iter().flat_map(|made| agents_in(&made.refused)).collect();
    let names = agents::names(&state.core.store, &agents).await?;
    Ok(Json(Page::from_rows(found, limit, |made| made.id.get()).map(|made| past(made, &names))))
}

/// Run a pass now, whether or not periodic passes are on. It moves subnets towards the cheapest
/// plan, within the moves that the policy allows for a day.
#[utoipa::path(post, path = "/api/v1/balance", operation_id = "run_balance", tag = "balance",
    params(DryRun), security(("session" = [])),
    responses((status = 200, body = BalanceResponse)))]
pub async fn run(
    admin: Admin,
    State(state): State<ApiState>,
    Query(dry_run): Query<DryRun>,
) -> Result<Json<BalanceResponse>, Problem> {
    let core = &state.core;
    let delegated = core.delegated().ok_or_else(no_hierarchy)?;
    let policy = policy::settings(&core.store).await?.balance;
    let loads = LoadSnapshot::take(&core.placement, &delegated).await?;
    let problem = BalanceProblem::build(&core.placement, &delegated, loads).await;
    let mut problem = problem.map_err(|error| match error {
        ProblemError::Store(error) => error.into(),
        error => Problem::internal(&error),
    })?;
    let plan = plan_pass(&core.placement, &problem, &policy, core.now()).await;
    let plan = plan.map_err(|error| match error {
        PassError::Store(error) => error.into(),
        error @ PassError::Computation(_) => Problem::internal(&error),
    })?;
    let names = agents::names(&core.store, &problem.agents).await?;
    let mut response = preview(&problem, &plan, &names);
    if !dry_run.is_set() {
        let outcome = execute_plan(&core.placement, &mut problem, &plan, MoveCause::Pass).await?;
        response.moved = outcome.moved as u64;
        response.probes_requested = outcome.asked as u64;
        let detail = json!({ "moved": outcome.moved, "probes": outcome.asked });
        let entry = audit::Entry::new(&admin.name, "balance.run", "balance", detail);
        audit::write(&core.store, &entry, core.now()).await?;
    }
    Ok(Json(response))
}

fn preview(problem: &BalanceProblem, plan: &Rebalance, names: &Names) -> BalanceResponse {
    BalanceResponse {
        moves: plan.moves.iter().map(|made| planned(problem, made, names)).collect(),
        moved: 0,
        probes_requested: 0,
        cost_before_ms: plan.before,
        cost_after_ms: plan.after,
        cost_optimal_ms: plan.optimum.cost,
        remaining_moves: plan.left as u64,
        overload_before: problem.instance.overload(&problem.plan),
        overload_after: problem.instance.overload(&plan.plan),
    }
}

fn planned(problem: &BalanceProblem, made: &balance::Move, names: &Names) -> Move {
    Move {
        id: None,
        at: None,
        subnet: problem.held[made.subnet].subnet.to_string(),
        from: AgentRef::named(problem.agents[made.from], names),
        to: AgentRef::named(problem.agents[made.to], names),
        delegation: None,
        rule: MoveCause::Pass.as_str().to_owned(),
        pages_per_day: problem.instance.subnets()[made.subnet].load,
        cost_before_ms: made.before,
        cost_after_ms: made.after,
        predicted: made.source == CostSource::Predicted,
        rejected_alternatives: alternatives(&refused_alternatives(problem, made), names),
    }
}

fn past(made: moves::Move, names: &Names) -> Move {
    let (from, from_name) = made.from;
    let (to, to_name) = made.to;
    Move {
        id: Some(made.id.to_string()),
        at: Some(made.at.into()),
        subnet: made.subnet.to_string(),
        from: AgentRef { id: from, name: from_name },
        to: AgentRef { id: to, name: to_name },
        delegation: Some(made.delegation.to_string()),
        rule: made.cause.as_str().to_owned(),
        pages_per_day: made.pages_a_day,
        cost_before_ms: made.before_ms,
        cost_after_ms: made.after_ms,
        predicted: false,
        rejected_alternatives: alternatives(&made.refused, names),
    }
}

fn agents_in(refused: &Value) -> impl Iterator<Item = AgentId> + '_ {
    let list = refused.as_array().into_iter().flatten();
    list.filter_map(|one| one["agent"].as_str()?.parse().ok())
}

/// The alternatives in the column `moves.refused`, without those that cannot be read.
fn alternatives(refused: &Value, names: &Names) -> Vec<RejectedAlternative> {
    let list = refused.as_array().into_iter().flatten();
    let read = |one: &Value| {
        Some(RejectedAlternative {
            subnet: one["subnet"].as_str()?.to_owned(),
            agent: AgentRef::named(one["agent"].as_str()?.parse().ok()?, names),
            cost_ms: one["cost_ms"].as_f64()?,
            reason: one["why"].as_str()?.parse().ok()?,
            amount: one["amount"].as_f64(),
        })
    };
    list.filter_map(read).collect()
}
