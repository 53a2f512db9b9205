//! Agents ask for their region: roster, loan and envelopes.

use std::time::Duration;

use axum::body::Bytes;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use model::{AgentId, AgentState};
use region::relay::{RELAY_BYTES, RelayRequest};

use crate::http::agent::AgentApi;
use crate::http::agent::caller::Caller;
use crate::http::agent::refusal;
use crate::http::agent::upload::{promised_bytes, too_many};
use crate::http::problem::Problem;
use crate::placement::regions::CallError;

/// How long a body may take to arrive: it may hold the bundle of a large host.
const BODY_TIMEOUT: Duration = Duration::from_mins(2);

/// Bytes of a request that is received at any time.
const SMALL: usize = 64 << 10;

/// Takes envelopes, and answers with roster, loan and envelopes to the agent. A paused agent votes
/// and reports that it is paused, but gets no loan.
pub(super) async fn relay(
    State(api): State<AgentApi>,
    caller: Caller,
    request: Request,
) -> Result<Bytes, Problem> {
    if !matches!(caller.state, AgentState::Approved | AgentState::Paused) {
        return Err(refusal::not_from(caller.state));
    }
    let receiving = receive(&api, caller.agent, request);
    let received = tokio::time::timeout(BODY_TIMEOUT, receiving).await;
    let mut request = received.map_err(|_| unread("it came slowly"))??;
    request.wants_loan &= caller.state == AgentState::Approved;
    let answer = api.regions.call(caller.agent, request, &api.stop).await;
    let answer = answer.map_err(|error| match error {
        CallError::NotLeader => Problem::unavailable(format!("Ask again later: {error}.")),
        CallError::TooLong | CallError::BadAddress(_) => unread(&error.to_string()),
        CallError::Store(error) => error.into(),
    })?;
    let bytes = postcard::to_allocvec(&answer).map_err(|error| Problem::internal(&error))?;
    Ok(bytes.into())
}

/// Receives a request. Neither its bytes nor the memory for them are kept while it is answered,
/// which may take long.
async fn receive(
    api: &AgentApi,
    agent: AgentId,
    request: Request,
) -> Result<RelayRequest, Problem> {
    let promised = promised_bytes(&request, RELAY_BYTES);
    // Most are small: they wait for no memory, and not for a bundle of the same agent.
    let _permit = if promised > SMALL {
        Some(api.relays.enter(agent, promised).await.ok_or_else(too_many)?)
    } else {
        None
    };
    let body = axum::body::to_bytes(request.into_body(), RELAY_BYTES).await;
    let body = body.map_err(|_| unread("it is too large or broke off"))?;
    postcard::from_bytes(&body).map_err(|_| unread("it is of another format"))
}

fn unread(why: &str) -> Problem {
    let detail = format!("The request about a region cannot be read: {why}.");
    Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "body", detail)
}
