//! An agent asks to be let in.

use std::net::SocketAddr;

use axum::Json;
use axum::extract::{ConnectInfo, State};
use axum::http::StatusCode;
use model::{AgentState, UnixMillis};
use protocol::enrol::{AgentProfile, EnrolRequest, EnrolResponse};
use protocol::limits;
use protocol::problem::kind;
use store::agents::{self, Enrolment, Newcomer};

use crate::http::agent::AgentApi;
use crate::http::agent::body::ProtocolBody;
use crate::http::agent::refusal;
use crate::http::agent::tokens::join_token_hash;
use crate::http::problem::{FieldError, Problem};
use crate::runtime::events::Event;

/// Enrols an agent with a one-time join token; with a known key the answer is the same agent. The
/// answer is signed, so that the agent knows that this coordinator made the token.
pub(super) async fn enrol(
    State(api): State<AgentApi>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    ProtocolBody(request): ProtocolBody<EnrolRequest>,
) -> Result<Json<EnrolResponse>, Problem> {
    let now = api.clock.now();
    check_clock(request.agent_time, now)?;
    request.verify().map_err(refusal::signature)?;
    check_profile(&request.profile)?;
    let newcomer = Newcomer {
        key: &request.public_key,
        profile: &request.profile,
        home: peer.ip().to_canonical(),
    };
    let hash = join_token_hash(&request.join_token);
    match agents::enrol(&api.store, &hash, &newcomer, now).await? {
        Enrolment::Enrolled { state: AgentState::Revoked, .. } => {
            Err(refusal::not_from(AgentState::Revoked))
        }
        Enrolment::Enrolled { agent, state, fresh } => {
            let home = newcomer.home;
            let name = &request.profile.name;
            tracing::info!(%agent, name, %home, fresh, "enrolled an agent");
            api.events.emit(Event::AgentEnrolled);
            Ok(Json(EnrolResponse::new(&api.key, &request, agent, state, now)))
        }
        Enrolment::UnknownToken => Err(wrong_token("is not one of this coordinator's")),
        Enrolment::UsedToken => Err(wrong_token("was used by another agent")),
        Enrolment::ExpiredToken => Err(wrong_token("has expired")),
        Enrolment::RevokedToken => Err(wrong_token("was revoked by an admin")),
    }
}

fn wrong_token(why: &str) -> Problem {
    let detail = format!("The join token {why}; ask the operator for a new one.");
    Problem::new(StatusCode::UNAUTHORIZED, "join-token", detail)
}

fn check_clock(agent_time: UnixMillis, now: UnixMillis) -> Result<(), Problem> {
    let off_ms = agent_time.distance_ms(now);
    if off_ms <= limits::CLOCK_OFF_MS {
        return Ok(());
    }
    let direction = if agent_time < now { "behind" } else { "ahead of" };
    let detail = format!(
        "The agent's clock is {} minutes {direction} the coordinator's; set it right (for example \
         with NTP) and enrol again.",
        off_ms / 60_000
    );
    Err(Problem::new(StatusCode::CONFLICT, kind::CLOCK_OFF, detail))
}

/// Checks what an owner wrote.
pub(super) fn check_profile(profile: &AgentProfile) -> Result<(), Problem> {
    let mut broken = Vec::new();
    let mut text = |field: &str, value: &str, most: usize| {
        let length = value.chars().count();
        if length == 0 || length > most || value.chars().any(char::is_control) {
            broken.push(FieldError::new(
                field,
                format!("must have 1 to {most} characters and no control characters"),
            ));
        }
    };
    text("profile.name", &profile.name, 100);
    text("profile.contact", &profile.contact, 500);
    text("profile.version", &profile.version, 100);
    text("profile.zone", &profile.zone, 100);
    for span in &profile.spans {
        text("profile.spans", span, 200);
    }
    if profile.spans.len() > 100 {
        broken.push(FieldError::new("profile.spans", "must be at most 100"));
    }
    if broken.is_empty() { Ok(()) } else { Err(Problem::invalid(broken)) }
}
