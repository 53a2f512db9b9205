//! Registry data anew, by hand.

use axum::extract::State;
use axum::http::StatusCode;
use serde_json::json;
use store::audit;

use crate::http::authentication::Admin;
use crate::http::problem::Problem;
use crate::http::state::ApiState;
use crate::registry::refresh;
use crate::runtime::events::Event;

/// Fetch the registries' data and load it anew, soon. How that goes is told by the background task
/// `refresh_registries`.
#[utoipa::path(post, path = "/api/v1/registry-data/refresh", operation_id = "refresh_registry_data", tag = "work",
    security(("session" = [])), responses((status = 202, description = "It begins soon.")))]
pub async fn refresh(admin: Admin, State(state): State<ApiState>) -> Result<StatusCode, Problem> {
    let core = &state.core;
    let (subject, detail) = ("registry-data", json!({}));
    let entry =
        audit::Entry { actor: &admin.name, action: "registries.refresh", subject, detail: &detail };
    audit::write(&core.store, &entry, core.now()).await?;
    refresh::ask(&core.store, core.now()).await?;
    core.events.emit(Event::RegistryRefreshRequested);
    Ok(StatusCode::ACCEPTED)
}
