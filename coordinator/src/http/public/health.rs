//! For those who operate the coordinator.

use axum::extract::State;

use crate::http::admin::dto::Version;
use crate::http::extract::Json;
use crate::http::problem::Problem;
use crate::http::public::pages as web;
use crate::http::state::ApiState;

/// Is the process alive? Asks nothing else.
#[utoipa::path(get, path = "/livez", tag = "health",
    responses((status = 200, content_type = "text/plain", body = String)))]
pub async fn livez() -> &'static str {
    "ok\n"
}

/// Can it do its work? Asks the database; 503 while it cannot, or while it shuts down.
#[utoipa::path(get, path = "/readyz", tag = "health",
    responses((status = 200, content_type = "text/plain", body = String)))]
pub async fn readyz(State(state): State<ApiState>) -> Result<&'static str, Problem> {
    if state.core.stop.is_cancelled() {
        return Err(Problem::unavailable("The coordinator is shutting down."));
    }
    state.core.store.ping().await?;
    Ok("ready\n")
}

/// What is running?
#[utoipa::path(get, path = "/version", tag = "health", responses((status = 200, body = Version)))]
pub async fn version() -> Json<Version> {
    Json(Version {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        protocol: protocol::version::CURRENT.0.into(),
        dashboard: web::DASHBOARD.to_owned(),
    })
}
