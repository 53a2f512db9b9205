//! How the work that nobody asks for is going.

use axum::extract::State;

use super::auth::Viewer;
use super::body::{Reconciler, Reconcilers};
use super::extract::Json;
use super::state::ApiState;

/// The reconcilers and how they do: what each did last, and why it fails if it does.
#[utoipa::path(get, path = "/api/v1/reconcilers", tag = "health", security(("session" = [])),
    responses((status = 200, body = Reconcilers)))]
pub async fn reconcilers(_viewer: Viewer, State(state): State<ApiState>) -> Json<Reconcilers> {
    let statuses = state.core.statuses.all();
    let items = statuses.into_iter().map(|(name, status)| Reconciler {
        name: name.to_owned(),
        runs: status.runs,
        failing: status.failing,
        last_run_at: status.last_run_at.map(Into::into),
        last_deed: status.last_deed,
        last_error: status.last_error,
    });
    Json(Reconcilers { decides: state.core.decides(), items: items.collect() })
}
