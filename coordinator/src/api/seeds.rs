//! URLs to begin from.

use axum::extract::State;

use super::auth::Admin;
use super::body::{Seeds, SeedsAnswer};
use super::extract::Json;
use super::problem::Problem;
use super::state::ApiState;

/// Give URLs to begin from.
#[utoipa::path(post, path = "/api/v1/seeds", operation_id = "add_seeds", tag = "work",
    request_body = Seeds, security(("session" = [])), responses((status = 200, body = SeedsAnswer)))]
pub async fn sow(
    _admin: Admin,
    State(_state): State<ApiState>,
    Json(_seeds): Json<Seeds>,
) -> Result<Json<SeedsAnswer>, Problem> {
    Err(Problem::unavailable("soon"))
}
