//! What agents say and what they are told: `/api/v1/agent/…`, in the words of `protocol`.
//!
//! In the order of an agent's life: [`enrol`], [`session`] (challenge and token), [`heartbeat`] (the
//! long poll), [`reports`], [`packages`]. Every refusal is a problem document that names the remedy
//! in one sentence.

mod body;
mod caller;
mod enrol;
mod heartbeat;
mod packages;
mod refusal;
mod reports;
mod session;
pub mod tokens;

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::routing::{post, put};
use protocol::limits;

use crate::runtime::state::Coordinator;

/// The agents' part of the API. The server must hand the peer's address in as `ConnectInfo`.
pub fn router(coordinator: Arc<Coordinator>) -> Router {
    let words = Router::new()
        .route("/api/v1/agent/enrol", post(enrol::enrol))
        .route("/api/v1/agent/challenge", post(session::challenge))
        .route("/api/v1/agent/session", post(session::session))
        .route("/api/v1/agent/heartbeat", post(heartbeat::heartbeat))
        .route("/api/v1/agent/reports", post(reports::reports))
        .layer(DefaultBodyLimit::max(limits::JSON_BODY_BYTES));
    let packages = Router::new()
        .route("/api/v1/agent/packages/{epoch}/{seq}", put(packages::put))
        .layer(DefaultBodyLimit::max(limits::PACKAGE_BYTES));
    words.merge(packages).with_state(coordinator)
}
