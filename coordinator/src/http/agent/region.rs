//! Agents ask for their region: roster, loan and envelopes.

use std::time::Duration;

use axum::body::Bytes;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use model::AgentState;
use region::relay::{RELAY_BYTES, RelayRequest};

use crate::http::agent::AgentApi;
use crate::http::agent::caller::Caller;
use crate::http::agent::refusal;
use crate::http::problem::Problem;
use crate::placement::regions::CallError;

/// How long a body may take to arrive: it may hold the bundle of a large host.
const ARRIVAL: Duration = Duration::from_mins(2);

/// Takes envelopes, and answers with roster, loan and envelopes to the agent.
pub(super) async fn relay(
    State(api): State<AgentApi>,
    caller: Caller,
    request: Request,
) -> Result<Bytes, Problem> {
    if caller.state != AgentState::Approved {
        return Err(refusal::not_from(caller.state));
    }
    let reading = axum::body::to_bytes(request.into_body(), RELAY_BYTES);
    let body =
        tokio::time::timeout(ARRIVAL, reading).await.map_err(|_| unread("it came slowly"))?;
    let body = body.map_err(|_| unread("it is too large or broke off"))?;
    let request: RelayRequest =
        postcard::from_bytes(&body).map_err(|_| unread("it is of another format"))?;
    let answer = api.regions.call(caller.agent, request, &api.stop).await;
    let answer = answer.map_err(|error| match error {
        CallError::NotLeader => Problem::unavailable(format!("Ask again later: {error}.")),
        CallError::TooLong => unread(&error.to_string()),
        CallError::Store(error) => error.into(),
    })?;
    let bytes = postcard::to_allocvec(&answer).map_err(|error| Problem::internal(&error))?;
    Ok(bytes.into())
}

fn unread(why: &str) -> Problem {
    let detail = format!("The request about a region cannot be read: {why}.");
    Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "body", detail)
}
