//! The crawlers at partners.

use axum::extract::State;

use super::auth::Admin;
use super::body::Agent;
use super::extract::{Json, Path, Query};
use super::page::{Page, Part};
use super::problem::Problem;
use super::state::ApiState;

/// All agents, the newest first.
#[utoipa::path(get, path = "/api/v1/agents", operation_id = "list_agents", tag = "agents", params(Part),
    security(("session" = [])), responses((status = 200, body = Page<Agent>)))]
pub async fn list(
    _admin: Admin,
    State(_state): State<ApiState>,
    Query(_part): Query<Part>,
) -> Result<Json<Page<Agent>>, Problem> {
    Err(Problem::unavailable("soon"))
}

/// One agent.
#[utoipa::path(get, path = "/api/v1/agents/{id}", operation_id = "get_agent", tag = "agents",
    params(("id" = String, Path, example = "agt_12")), security(("session" = [])),
    responses((status = 200, body = Agent)))]
pub async fn one(
    _admin: Admin,
    State(_state): State<ApiState>,
    Path(_id): Path<String>,
) -> Result<Json<Agent>, Problem> {
    Err(Problem::unavailable("soon"))
}

/// Let a waiting agent work; its home subnet is delegated to it.
#[utoipa::path(post, path = "/api/v1/agents/{id}/approve", operation_id = "approve_agent", tag = "agents",
    params(("id" = String, Path, example = "agt_12")), security(("session" = [])),
    responses((status = 200, body = Agent)))]
pub async fn approve(
    _admin: Admin,
    State(_state): State<ApiState>,
    Path(_id): Path<String>,
) -> Result<Json<Agent>, Problem> {
    Err(Problem::unavailable("soon"))
}

/// Tell an agent to stop for now; it keeps its delegations.
#[utoipa::path(post, path = "/api/v1/agents/{id}/pause", operation_id = "pause_agent", tag = "agents",
    params(("id" = String, Path, example = "agt_12")), security(("session" = [])),
    responses((status = 200, body = Agent)))]
pub async fn pause(
    _admin: Admin,
    State(_state): State<ApiState>,
    Path(_id): Path<String>,
) -> Result<Json<Agent>, Problem> {
    Err(Problem::unavailable("soon"))
}

/// Let a paused agent go on.
#[utoipa::path(post, path = "/api/v1/agents/{id}/resume", operation_id = "resume_agent", tag = "agents",
    params(("id" = String, Path, example = "agt_12")), security(("session" = [])),
    responses((status = 200, body = Agent)))]
pub async fn resume(
    _admin: Admin,
    State(_state): State<ApiState>,
    Path(_id): Path<String>,
) -> Result<Json<Agent>, Problem> {
    Err(Problem::unavailable("soon"))
}

/// Shut an agent out for good.
#[utoipa::path(post, path = "/api/v1/agents/{id}/revoke", operation_id = "revoke_agent", tag = "agents",
    params(("id" = String, Path, example = "agt_12")), security(("session" = [])),
    responses((status = 200, body = Agent)))]
pub async fn revoke(
    _admin: Admin,
    State(_state): State<ApiState>,
    Path(_id): Path<String>,
) -> Result<Json<Agent>, Problem> {
    Err(Problem::unavailable("soon"))
}
