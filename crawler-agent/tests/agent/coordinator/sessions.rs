//! Enrolment and sessions at the fake coordinator.

use axum::{Json, extract::State, http::HeaderMap, response::IntoResponse as _};
use model::AgentState;
use protocol::{
    enrol::EnrolRequest, enrol::EnrolResponse, key::CoordinatorKey, leave::LeaveRequest,
    leave::LeaveResponse, problem::kind, session::Challenge, session::ChallengeRequest,
    session::Session, session::SessionRequest,
};

use super::{AGENT, Answer, Shared, TOKEN, problem, problem_of};

pub(super) async fn enrol(State(inner): Shared, Json(request): Json<EnrolRequest>) -> Answer {
    inner.check()?;
    request.verify().map_err(|_| problem_of(kind::SIGNATURE, 401, "bad signature"))?;
    let mut state = inner.state();
    if state.key != Some(request.public_key) {
        if request.join_token != *TOKEN {
            let detail = "the join token is not known; ask the admin for a new one";
            return Err(problem_of("join-token", 401, detail));
        }
        state.key = Some(request.public_key);
    }
    let signer = CoordinatorKey::from_seed(state.signs_with);
    let time = request.agent_time;
    let answer = EnrolResponse::new(&signer, &request, AGENT, state.state, time);
    Ok(Json(answer).into_response())
}

pub(super) async fn challenge(State(inner): Shared, Json(_): Json<ChallengeRequest>) -> Answer {
    inner.check()?;
    Ok(Json(Challenge { nonce: "nonce".into() }).into_response())
}

pub(super) async fn session(State(inner): Shared, Json(request): Json<SessionRequest>) -> Answer {
    inner.check()?;
    let mut state = inner.state();
    let key = state.key.ok_or_else(|| problem(401, "no such agent"))?;
    let verified = request.verify(&key);
    verified.map_err(|_| problem_of(kind::SIGNATURE, 401, "bad signature"))?;
    if state.refuse_nonces > 0 {
        state.refuse_nonces -= 1;
        return Err(problem_of(kind::NONCE, 401, "the nonce has expired"));
    }
    state.sessions_opened += 1;
    let token = format!("session-{}", state.sessions_opened);
    state.sessions.insert(token.clone());
    let signer = CoordinatorKey::from_seed(state.signs_with);
    Ok(Json(Session::new(&signer, &request, token, 600)).into_response())
}

/// Hosts are left as long as orders to release them are not confirmed.
pub(super) async fn leave(
    State(inner): Shared,
    headers: HeaderMap,
    Json(request): Json<LeaveRequest>,
) -> Answer {
    inner.authorise(&headers)?;
    let mut state = inner.state();
    state.state = if request.done { AgentState::Revoked } else { AgentState::Paused };
    let hosts_left = state.host_orders.len() as u64;
    let answer = LeaveResponse { hosts_left, state: state.state };
    drop(state);
    inner.changed.notify_waiters();
    Ok(Json(answer).into_response())
}
