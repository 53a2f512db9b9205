//! Authentication of agents: the bearer token of a session.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use model::{AgentId, AgentState};
use protocol::key::PublicKey;

use crate::http::agent::AgentApi;
use crate::http::agent::refusal;
use crate::http::authentication::bearer;
use crate::http::connections::ConnectionHandle;
use crate::http::problem::Problem;

/// An agent with a good session. Its standing is read from the database with every call, so that a
/// revocation holds at once.
#[derive(Debug, Clone, Copy)]
pub(super) struct Caller {
    pub(super) agent: AgentId,
    pub(super) key: PublicKey,
    pub(super) state: AgentState,
}

impl Caller {
    /// Refuses agents that never were approved; paused ones may still deliver.
    pub(super) fn may_deliver(&self) -> Result<(), Problem> {
        match self.state {
            AgentState::Approved | AgentState::Paused => Ok(()),
            AgentState::Pending | AgentState::Revoked => Err(refusal::not_from(self.state)),
        }
    }
}

impl FromRequestParts<AgentApi> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, api: &AgentApi) -> Result<Self, Problem> {
        let token = bearer(&parts.headers)
            .ok_or_else(|| refusal::no_session("the Authorization header has no bearer token"))?;
        let owner = api.tokens.owner(token, api.clock.now());
        let agent = owner
            .map_err(|error| refusal::no_session(&format!("the token is refused, {error}")))?;
        let identity = store::agents::identity(&api.store, agent).await?;
        let identity = identity.ok_or_else(refusal::unknown_agent)?;
        if identity.state == AgentState::Revoked {
            return Err(refusal::not_from(identity.state));
        }
        if let Some(connection) = parts.extensions.get::<ConnectionHandle>() {
            connection.mark_agent(agent);
        }
        Ok(Self { agent, key: identity.key, state: identity.state })
    }
}
