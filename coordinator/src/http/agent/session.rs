//! A signature over a nonce buys a session.

use axum::Json;
use axum::extract::State;
use model::AgentState;
use protocol::limits;
use protocol::session::{Challenge, ChallengeRequest, Session, SessionRequest};
use store::agents;

use crate::http::agent::AgentApi;
use crate::http::agent::body::ProtocolBody;
use crate::http::agent::refusal;
use crate::http::problem::Problem;

/// A nonce to sign. Nothing is stored, and whether the agent exists is not said.
pub(super) async fn challenge(
    State(api): State<AgentApi>,
    ProtocolBody(request): ProtocolBody<ChallengeRequest>,
) -> Json<Challenge> {
    let nonce = api.tokens.nonce(request.agent, api.clock.now(), rand::random());
    Json(Challenge { nonce })
}

/// A bearer token for ten minutes, signed.
pub(super) async fn session(
    State(api): State<AgentApi>,
    ProtocolBody(request): ProtocolBody<SessionRequest>,
) -> Result<Json<Session>, Problem> {
    let identity = agents::identity(&api.store, request.agent).await?;
    let identity = identity.ok_or_else(refusal::unknown_agent)?;
    // The signature is checked first, so that only the agent itself can use up a nonce.
    request.verify(&identity.key).map_err(refusal::signature)?;
    api.tokens.spend(&request.nonce, request.agent, api.clock.now()).map_err(refusal::nonce)?;
    if identity.state == AgentState::Revoked {
        return Err(refusal::not_from(identity.state));
    }
    let token = api.tokens.session(request.agent, api.clock.now(), rand::random());
    Ok(Json(Session::new(&api.key, &request, token, limits::SESSION_SECONDS)))
}
