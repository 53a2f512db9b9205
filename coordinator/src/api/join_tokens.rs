//! One-time tokens with which agents enrol.

use axum::extract::State;
use axum::http::StatusCode;

use super::auth::Admin;
use super::body::{JoinToken, NewJoinToken, NewJoinTokenAnswer};
use super::extract::{Json, Query};
use super::page::{Page, Part};
use super::problem::Problem;
use super::state::ApiState;

/// Make a join token; it is shown in this answer only.
#[utoipa::path(post, path = "/api/v1/join-tokens", operation_id = "create_join_token", tag = "agents",
    request_body = NewJoinToken, security(("session" = [])),
    responses((status = 201, body = NewJoinTokenAnswer)))]
pub async fn create(
    _admin: Admin,
    State(_state): State<ApiState>,
    Json(_wish): Json<NewJoinToken>,
) -> Result<(StatusCode, Json<NewJoinTokenAnswer>), Problem> {
    Err(Problem::unavailable("soon"))
}

/// All join tokens, the newest first, without the tokens themselves.
#[utoipa::path(get, path = "/api/v1/join-tokens", operation_id = "list_join_tokens", tag = "agents",
    params(Part), security(("session" = [])), responses((status = 200, body = Page<JoinToken>)))]
pub async fn list(
    _admin: Admin,
    State(_state): State<ApiState>,
    Query(_part): Query<Part>,
) -> Result<Json<Page<JoinToken>>, Problem> {
    Err(Problem::unavailable("soon"))
}
