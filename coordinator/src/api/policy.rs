//! The settings that admins may change while everything runs.

use axum::extract::State;

use super::auth::Admin;
use super::body::Policy;
use super::extract::Json;
use super::problem::Problem;
use super::state::ApiState;

/// The policy in force.
#[utoipa::path(get, path = "/api/v1/policy", operation_id = "get_policy", tag = "work",
    security(("session" = [])), responses((status = 200, body = Policy)))]
pub async fn read(_admin: Admin, State(_state): State<ApiState>) -> Result<Json<Policy>, Problem> {
    Err(Problem::unavailable("soon"))
}

/// Change the policy; it holds for searches opened from now on.
#[utoipa::path(put, path = "/api/v1/policy", operation_id = "put_policy", tag = "work",
    request_body = Policy, security(("session" = [])), responses((status = 200, body = Policy)))]
pub async fn write(
    _admin: Admin,
    State(_state): State<ApiState>,
    Json(_policy): Json<Policy>,
) -> Result<Json<Policy>, Problem> {
    Err(Problem::unavailable("soon"))
}
