//! Everything at a glance.

use axum::extract::State;

use super::auth::Admin;
use super::body::Overview;
use super::extract::Json;
use super::problem::Problem;
use super::state::ApiState;

/// Everything at a glance.
#[utoipa::path(get, path = "/api/v1/overview", tag = "watch", security(("session" = [])),
    responses((status = 200, body = Overview)))]
pub async fn overview(_admin: Admin, State(_state): State<ApiState>) -> Result<Json<Overview>, Problem> {
    Err(Problem::unavailable("soon"))
}
