//! Refusals that several handlers of the agent protocol share.

use axum::http::StatusCode;
use model::AgentState;
use protocol::version::VersionError;

use crate::http::agent::tokens::TokenError;
use crate::http::problem::Problem;

/// 426: another dialect.
pub(super) fn version(error: VersionError) -> Problem {
    Problem::new(StatusCode::UPGRADE_REQUIRED, "protocol-version", format!("{error}."))
}

/// 401: no session, or none that is good.
pub(super) fn no_session(why: &str) -> Problem {
    let detail = format!(
        "No session: {why}. Buy one with POST /api/v1/agent/challenge and /api/v1/agent/session."
    );
    Problem::new(StatusCode::UNAUTHORIZED, "no-session", detail)
}

/// 401: the nonce or its signature is not good.
pub(super) fn nonce(error: TokenError) -> Problem {
    let detail = format!(
        "The nonce cannot be used: {error}. Ask for a new one with POST /api/v1/agent/challenge."
    );
    Problem::new(StatusCode::UNAUTHORIZED, "nonce", detail)
}

/// 401: signed with another key.
pub(super) fn signature(error: protocol::key::KeyError) -> Problem {
    Problem::new(
        StatusCode::UNAUTHORIZED,
        "signature",
        format!("The signature is refused: {error}."),
    )
}

/// 403: the operator shut the agent out, or has not let it in.
pub(super) fn not_from(state: AgentState) -> Problem {
    match state {
        AgentState::Revoked => Problem::new(
            StatusCode::FORBIDDEN,
            "revoked",
            "This agent was revoked by the operator; ask for a new join token and enrol with a \
             new key.",
        ),
        other => Problem::new(
            StatusCode::FORBIDDEN,
            "not-approved",
            format!("This agent is {}; wait until the operator approves it.", other.as_str()),
        ),
    }
}

/// 404: no such agent.
pub(super) fn unknown_agent() -> Problem {
    Problem::new(
        StatusCode::NOT_FOUND,
        "unknown-agent",
        "This coordinator does not know the agent, for example because a backup of its database \
         was restored: stop the agent, run `nearcrawl-agent leave --without-coordinator`, and \
         enrol anew with a new join token.",
    )
}
