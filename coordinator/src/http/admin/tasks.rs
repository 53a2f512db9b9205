//! How the work that nobody asks for is going.

use axum::extract::State;

use crate::http::admin::dto::{BackgroundTask, BackgroundTasks};
use crate::http::authentication::Viewer;
use crate::http::extract::Json;
use crate::http::state::ApiState;

/// The background tasks and how they do: what each did last, and why it fails if it does.
#[utoipa::path(get, path = "/api/v1/tasks", tag = "health", security(("session" = [])),
    responses((status = 200, body = BackgroundTasks)))]
pub async fn tasks(_viewer: Viewer, State(state): State<ApiState>) -> Json<BackgroundTasks> {
    let statuses = state.core.statuses.all();
    let items = statuses.into_iter().map(|(name, status)| BackgroundTask {
        name: name.to_owned(),
        runs: status.runs,
        failing: status.failing,
        last_run_at: status.last_run_at.map(Into::into),
        last_outcome: status.last_outcome,
        last_error: status.last_error,
    });
    Json(BackgroundTasks { decides: state.core.is_leader(), items: items.collect() })
}
