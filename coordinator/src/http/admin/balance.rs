//! What balance moved, and what it would move.

use std::collections::HashMap;

use axum::extract::State;
use delegation::balance::{self, CostSource, Rebalance};
use model::{AgentId, BalanceRule};
use serde_json::Value;
use store::{lists, moves, policy};

use crate::http::admin::dto::{AgentRef, Alternative, BalanceAnswer, DryRun, Move};
use crate::http::admin::subnet_lookup::no_hierarchy;
use crate::http::authentication::{Admin, Viewer};
use crate::http::extract::{Json, Query};
use crate::http::paging::{Page, Part};
use crate::http::problem::Problem;
use crate::http::state::ApiState;
use crate::placement::balance::carry_out::told;
use crate::placement::balance::pass;
use crate::placement::balance::scene::{Scene, SceneError};
use crate::placement::load_snapshot::LoadSnapshot;

type Names = HashMap<AgentId, String>;

/// Subnets that balance gave to other agents, the newest first.
#[utoipa::path(get, path = "/api/v1/moves", operation_id = "list_moves", tag = "delegations", params(Part),
    security(("session" = [])), responses((status = 200, body = Page<Move>)))]
pub async fn list(
    _viewer: Viewer,
    State(state): State<ApiState>,
    Query(part): Query<Part>,
) -> Result<Json<Page<Move>>, Problem> {
    let (before, limit) = (part.before()?, part.limit()?);
    let found = moves::list(&state.core.store, before, limit + 1).await?;
    let agents: Vec<AgentId> = found.iter().flat_map(|made| named(&made.refused)).collect();
    let names = lists::names(&state.core.store, &agents).await?;
    Ok(Json(Page::cut(found, limit, |made| made.id.get()).map(|made| shown(made, &names))))
}

/// Move towards the cheapest plan now, within the moves that the policy allows for a day, whether
/// or not passes are on.
#[utoipa::path(post, path = "/api/v1/balance", operation_id = "balance_now", tag = "delegations", params(DryRun),
    security(("session" = [])), responses((status = 200, body = BalanceAnswer)))]
pub async fn now(
    _admin: Admin,
    State(state): State<ApiState>,
    Query(dry_run): Query<DryRun>,
) -> Result<Json<BalanceAnswer>, Problem> {
    let core = &state.core;
    let delegated = core.delegated().ok_or_else(no_hierarchy)?;
    let policy = policy::balance(&core.store).await?;
    let scales = LoadSnapshot::take(&core.placement, &delegated).await?;
    let scene = Scene::set(&core.placement, &delegated, &scales).await;
    let mut scene = scene.map_err(|error| match error {
        SceneError::Store(error) => error.into(),
        SceneError::AssignmentProblem(error) => Problem::internal(&error),
    })?;
    let plan = pass::plan(&core.placement, &scene, &policy, core.now()).await?;
    let names = lists::names(&core.store, &scene.agents).await?;
    let mut answer = planned(&scene, &plan, &names);
    if !dry_run.wanted() {
        let outcome = pass::carry_out_all(&core.placement, &mut scene, &plan).await?;
        (answer.moved, answer.asked) = (outcome.moved as u64, outcome.asked as u64);
    }
    Ok(Json(answer))
}

fn planned(scene: &Scene, plan: &Rebalance, names: &Names) -> BalanceAnswer {
    BalanceAnswer {
        moves: plan.moves.iter().map(|made| planned_move(scene, made, names)).collect(),
        moved: 0,
        asked: 0,
        cost_before_ms: plan.before,
        cost_after_ms: plan.after,
        cost_optimal_ms: plan.optimum.cost,
        left: plan.left as u64,
        overload_before: scene.instance.overload(&scene.plan),
        overload_after: scene.instance.overload(&plan.plan),
    }
}

fn planned_move(scene: &Scene, made: &balance::Move, names: &Names) -> Move {
    Move {
        id: None,
        at: None,
        subnet: scene.held[made.subnet].subnet.to_string(),
        from: agent(scene.agents[made.from], names),
        to: agent(scene.agents[made.to], names),
        delegation: None,
        rule: rule_name(None),
        pages_a_day: scene.instance.subnets()[made.subnet].load,
        cost_before_ms: made.before,
        cost_after_ms: made.after,
        predicted: made.source == CostSource::Predicted,
        refused: alternatives(&told(scene, made), names),
    }
}

fn shown(made: moves::Move, names: &Names) -> Move {
    let (from, to) = (made.from, made.to);
    Move {
        id: Some(made.id.to_string()),
        at: Some(made.at.into()),
        subnet: made.subnet.to_string(),
        from: AgentRef { id: from.0, name: from.1 },
        to: AgentRef { id: to.0, name: to.1 },
        delegation: Some(made.delegation.to_string()),
        rule: rule_name(made.rule),
        pages_a_day: made.pages_a_day,
        cost_before_ms: made.before_ms,
        cost_after_ms: made.after_ms,
        predicted: false,
        refused: alternatives(&made.refused, names),
    }
}

fn agent(id: AgentId, names: &Names) -> AgentRef {
    AgentRef { id, name: names.get(&id).cloned().unwrap_or_default() }
}

fn named(refused: &Value) -> impl Iterator<Item = AgentId> + '_ {
    let list = refused.as_array().into_iter().flatten();
    list.filter_map(|one| one["agent"].as_str()?.parse().ok())
}

/// As `moves.refused` has them; what no version of the coordinator writes is left out.
fn alternatives(refused: &Value, names: &Names) -> Vec<Alternative> {
    let list = refused.as_array().into_iter().flatten();
    let read = |one: &Value| {
        Some(Alternative {
            subnet: one["subnet"].as_str()?.to_owned(),
            agent: agent(one["agent"].as_str()?.parse().ok()?, names),
            cost_ms: one["cost_ms"].as_f64()?,
            why: one["why"].as_str()?.parse().ok()?,
            amount: one["amount"].as_f64(),
        })
    };
    list.filter_map(read).collect()
}

/// As the API names the rule of a move: `optimal` for one of a periodic pass.
fn rule_name(rule: Option<BalanceRule>) -> String {
    rule.map_or("optimal", BalanceRule::as_str).to_owned()
}
