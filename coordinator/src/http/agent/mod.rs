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
use axum::extract::{DefaultBodyLimit, FromRef};
use axum::routing::{post, put};
use protocol::limits;

use crate::http::agent::tokens::Tokens;
use crate::tasks::coordinator::Coordinator;

/// State of the agents' part of the API.
#[derive(Clone)]
struct AgentApi {
    core: Arc<Coordinator>,
    tokens: Arc<Tokens>,
}

impl FromRef<AgentApi> for Arc<Coordinator> {
    fn from_ref(api: &AgentApi) -> Self {
        Arc::clone(&api.core)
    }
}

impl FromRef<AgentApi> for Arc<Tokens> {
    fn from_ref(api: &AgentApi) -> Self {
        Arc::clone(&api.tokens)
    }
}

/// The agents' part of the API. The server must hand the peer's address in as `ConnectInfo`.
pub fn router(core: Arc<Coordinator>, tokens: Tokens) -> Router {
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
    words.merge(packages).with_state(AgentApi { core, tokens: Arc::new(tokens) })
}
