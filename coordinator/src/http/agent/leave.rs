//! The end of an agent by its owner: it hands its hosts over and is deregistered.

use axum::Json;
use axum::extract::State;
use model::AgentState;
use protocol::leave::{LeaveRequest, LeaveResponse};

use crate::http::agent::AgentApi;
use crate::http::agent::body::ProtocolBody;
use crate::http::agent::caller::Caller;
use crate::http::agent::refusal;
use crate::http::problem::Problem;
use crate::placement::agent_administration;

/// Ends the agent's work with the first call; with `done`, deregisters it. May be repeated.
pub(super) async fn leave(
    State(api): State<AgentApi>,
    caller: Caller,
    ProtocolBody(request): ProtocolBody<LeaveRequest>,
) -> Result<Json<LeaveResponse>, Problem> {
    let departure = agent_administration::leave(&api.placement, caller.agent, request.done).await?;
    let departure = departure.ok_or_else(refusal::unknown_agent)?;
    let identity = store::agents::identity(&api.store, caller.agent).await?;
    let state = identity.map_or(AgentState::Revoked, |identity| identity.state);
    if departure.is_changed {
        tracing::info!(agent = %caller.agent, state = state.as_str(), "an agent leaves");
    }
    Ok(Json(LeaveResponse { hosts_left: departure.hosts_left, state }))
}
