//! What changes, as it changes.

use axum::extract::State;

use super::auth::Admin;
use super::problem::Problem;
use super::state::ApiState;

/// Watch what goes on.
///
/// A stream of server-sent events: `overview` (data: the body of `GET /api/v1/overview`, at once and then at most
/// once a second, when changed), `agents` and `delegations` (data: `{"changed":true}`: read the list again).
#[utoipa::path(get, path = "/api/v1/events", tag = "watch", security(("session" = [])),
    responses((status = 200, content_type = "text/event-stream", body = String)))]
pub async fn events(_admin: Admin, State(_state): State<ApiState>) -> Result<(), Problem> {
    Err(Problem::unavailable("soon"))
}
