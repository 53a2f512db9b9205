//! Refresh of the registries' data on request.

use axum::extract::State;
use axum::http::StatusCode;
use serde_json::json;
use store::audit;

use crate::http::authentication::Admin;
use crate::http::problem::Problem;
use crate::http::state::ApiState;
use crate::registry::refresh;
use crate::runtime::events::Event;

/// Fetch and load the registries' data soon. The status of the background task
/// `refresh_registries` shows the progress.
#[utoipa::path(post, path = "/api/v1/registry-data/refresh", operation_id = "refresh_registry_data",
    tag = "hierarchy", security(("session" = [])),
    responses((status = 202, description = "The refresh starts soon.")))]
pub async fn refresh(admin: Admin, State(state): State<ApiState>) -> Result<StatusCode, Problem> {
    let core = &state.core;
    let entry = audit::Entry::new(&admin.name, "registries.refresh", "registry-data", json!({}));
    audit::write(&core.store, &entry, core.now()).await?;
    refresh::ask(&core.store, core.now()).await?;
    core.events.emit(Event::RegistryRefreshRequested);
    Ok(StatusCode::ACCEPTED)
}
