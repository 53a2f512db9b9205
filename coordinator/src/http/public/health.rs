//! Health checks and versions, for monitoring.

use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::extract::Json;
use crate::http::problem::Problem;
use crate::http::public::dashboard;
use crate::http::state::ApiState;

/// Versions of the running coordinator.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Version {
    /// Version of the coordinator program.
    pub version: String,
    /// Version of the agent protocol it speaks.
    pub protocol: u32,
    /// `stub`, or the first twelve hex digits of the built dashboard's hash.
    pub dashboard: String,
}

/// Liveness: succeeds while the process answers, and checks nothing else.
#[utoipa::path(get, path = "/livez", operation_id = "get_liveness", tag = "health",
    responses((status = 200, content_type = "text/plain", body = String)))]
pub async fn livez() -> &'static str {
    "ok\n"
}

/// Readiness: fails with 503 while the database does not answer or the coordinator shuts down.
#[utoipa::path(get, path = "/readyz", operation_id = "get_readiness", tag = "health",
    responses((status = 200, content_type = "text/plain", body = String)))]
pub async fn readyz(State(state): State<ApiState>) -> Result<&'static str, Problem> {
    if state.core.stop.is_cancelled() {
        return Err(Problem::unavailable("The coordinator is shutting down."));
    }
    state.core.store.ping().await?;
    Ok("ready\n")
}

/// Versions of program, protocol and dashboard.
#[utoipa::path(get, path = "/version", operation_id = "get_version", tag = "health",
    responses((status = 200, body = Version)))]
pub async fn version() -> Json<Version> {
    Json(Version {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        protocol: protocol::version::CURRENT.0.into(),
        dashboard: dashboard::VERSION.to_owned(),
    })
}
