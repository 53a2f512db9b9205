//! Errors of calls to the coordinator.
//!
//! Only a problem document of the coordinator is a refusal. Proxies between agent and coordinator
//! answer with the same statuses (413 for a large body, 403 by a filter), but such an answer says
//! nothing about the agent or its package.

use std::time::Duration;

use protocol::{
    key::KeyError,
    problem::{self, kind},
};
use reqwest::{Response, StatusCode, header};
use serde::Deserialize;

/// A call that failed.
#[derive(Debug, thiserror::Error)]
pub enum CoordinatorError {
    /// The HTTP client cannot be set up.
    #[error("the connection to the coordinator cannot be set up")]
    Setup(#[source] reqwest::Error),
    /// The coordinator did not answer.
    #[error("the coordinator cannot be reached")]
    Unreachable(#[source] reqwest::Error),
    /// The coordinator cannot answer now, but may do so later.
    #[error("the coordinator is unavailable: {reason}")]
    Busy {
        /// The coordinator's explanation.
        reason: String,
        /// When it wants to be asked again.
        retry_after: Option<Duration>,
    },
    /// The coordinator refuses this call.
    #[error("the coordinator refuses: {reason}")]
    Refused {
        /// HTTP status, usually 4xx.
        status: u16,
        /// Kind of the problem.
        kind: String,
        /// The coordinator's explanation.
        reason: String,
    },
    /// A program that is not the coordinator refuses the call.
    #[error(
        "status {status} from a program that is not the coordinator: check the URL of the \
         coordinator and the proxies in between"
    )]
    Foreign {
        /// HTTP status of its answer, usually 4xx.
        status: u16,
    },
    /// The answer is a redirect. It is not followed, because it could lead into the networks that
    /// the guard protects.
    #[error(
        "status {status} redirects to {target}, and the agent follows no redirects: if the \
         coordinator has moved there, write the new URL as `coordinator` in the configuration"
    )]
    Redirected {
        /// HTTP status, 3xx.
        status: u16,
        /// Value of the Location header.
        target: String,
    },
    /// The answer exceeds every size that the protocol allows.
    #[error("the coordinator's answer is too large")]
    TooLarge,
    /// Another program than the coordinator of the enrolment answers.
    #[error(
        "the answer is not signed with the key of the coordinator that gave the join token: \
         another program answers at this URL, or the coordinator lost its database; check \
         `coordinator` and ask the operator; if the database is lost, stop the agent, run \
         `nearcrawl-agent leave --without-coordinator`, and enrol anew with a new join token"
    )]
    WrongKey(#[source] KeyError),
    /// The answer is not what the protocol says.
    #[error("the coordinator's answer cannot be parsed")]
    Answer(#[source] serde_json::Error),
    /// A request or answer about a region has another format: the programs are of different
    /// versions.
    #[error("the coordinator's answer about the region cannot be read")]
    Relay(#[source] postcard::Error),
}

impl From<reqwest::Error> for CoordinatorError {
    fn from(error: reqwest::Error) -> Self {
        // The owner knows the URL, and it would make the message long.
        Self::Unreachable(error.without_url())
    }
}

impl CoordinatorError {
    /// Whether a later attempt may succeed without any action of a person.
    pub fn is_temporary(&self) -> bool {
        match self {
            // A proxy, or a coordinator in the middle of an update, may answer with anything.
            Self::Unreachable(_)
            | Self::Busy { .. }
            | Self::Answer(_)
            | Self::Relay(_)
            | Self::TooLarge => true,
            // A nonce is refused while the coordinator's clock is being set, and an agent that is
            // not approved may be approved later.
            Self::Refused { kind, .. } => {
                [kind::NONCE, kind::NO_SESSION, kind::NOT_APPROVED].contains(&kind.as_str())
            }
            Self::Setup(_) | Self::WrongKey(_) | Self::Foreign { .. } | Self::Redirected { .. } => {
                false
            }
        }
    }

    /// Whether a program that may wait for days should: [`Self::is_temporary`], or until the
    /// operator has upgraded the coordinator, or a clock is right.
    pub fn is_worth_waiting(&self) -> bool {
        let is_clock_off = matches!(self, Self::Refused { kind, .. } if kind == kind::CLOCK_OFF);
        self.is_temporary() || self.is_other_version() || is_clock_off
    }

    /// How long the coordinator wants this call to wait, within bounds.
    pub fn retry_after(&self) -> Duration {
        let asked = match self {
            Self::Busy { retry_after, .. } => *retry_after,
            _ => None,
        };
        asked.unwrap_or_default().min(LONGEST_WAIT)
    }

    /// Whether the coordinator itself refuses the call, so that repeating it is useless.
    pub fn is_refusal(&self) -> bool {
        matches!(self, Self::Refused { .. }) && !self.is_temporary() && !self.is_other_version()
    }

    /// Whether the coordinator does not speak the agent's version of the protocol. It does later,
    /// where its operator upgrades it, or ends an upgrade that failed.
    pub fn is_other_version(&self) -> bool {
        matches!(self, Self::Refused { kind, .. } if kind == kind::PROTOCOL_VERSION)
    }

    /// Whether the coordinator will never take this package: it is damaged or too large, or another
    /// one was received under its number (409), as after a restored backup of the data directory.
    pub fn rejects_package(&self) -> bool {
        matches!(self, Self::Refused { status: 409 | 413 | 422, .. })
    }

    /// Whether another package was received under the number of this one.
    pub fn is_package_conflict(&self) -> bool {
        matches!(self, Self::Refused { kind, .. } if kind == kind::PACKAGE_CONFLICT)
    }

    /// Whether the coordinator will refuse every call of this agent for good: it was revoked or has
    /// another key.
    pub fn is_banned(&self) -> bool {
        let kinds = [kind::REVOKED, kind::SIGNATURE];
        matches!(self, Self::Refused { kind, .. } if kinds.contains(&kind.as_str()))
    }

    /// Whether the coordinator says that the agent is not one of its agents any more.
    pub fn is_gone(&self) -> bool {
        let kinds = [kind::REVOKED, kind::UNKNOWN_AGENT];
        matches!(self, Self::Refused { kind, .. } if kinds.contains(&kind.as_str()))
    }
}

/// The members of a problem document that an agent uses; `kind` without the prefix of all.
#[derive(Deserialize)]
struct Problem {
    #[serde(rename = "type")]
    kind: String,
    title: Option<String>,
    detail: Option<String>,
}

impl Problem {
    /// The document in `body`; none unless it is one of a coordinator.
    fn parse(media_type: &str, body: &[u8]) -> Option<Self> {
        let is_problem = media_type.split(';').next()?.trim() == problem::MEDIA_TYPE;
        let document: Self = serde_json::from_slice(body).ok().filter(|_| is_problem)?;
        let kind = document.kind.strip_prefix(problem::TYPE_PREFIX)?.to_owned();
        Some(Self { kind, ..document })
    }
}

/// Longest wait for which an answer can ask.
const LONGEST_WAIT: Duration = Duration::from_mins(10);
/// Most bytes of an error's body that are read.
const PROBLEM_BYTES: usize = 16 << 10;
/// Most characters of a redirect's target that are shown.
const TARGET_CHARS: usize = 200;

/// Passes a successful answer on; turns any other into an error.
pub(super) async fn check(mut response: Response) -> Result<Response, CoordinatorError> {
    let status = response.status();
    if status.is_success() {
        return Ok(response);
    }
    let media_type = text(&response, header::CONTENT_TYPE);
    let retry_after = text(&response, header::RETRY_AFTER).and_then(|text| text.parse().ok());
    if status.is_redirection()
        && let Some(target) = text(&response, header::LOCATION)
    {
        let target = target.chars().take(TARGET_CHARS).collect();
        return Err(CoordinatorError::Redirected { status: status.as_u16(), target });
    }
    let mut body = Vec::new();
    while let Ok(Some(chunk)) = response.chunk().await {
        body.extend_from_slice(&chunk);
        if body.len() > PROBLEM_BYTES {
            break;
        }
    }
    let problem = media_type.and_then(|media_type| Problem::parse(&media_type, &body));
    Err(failure(status, problem, retry_after.map(Duration::from_secs)))
}

fn text(response: &Response, name: header::HeaderName) -> Option<String> {
    Some(response.headers().get(name)?.to_str().ok()?.to_owned())
}

fn failure(
    status: StatusCode,
    problem: Option<Problem>,
    retry_after: Option<Duration>,
) -> CoordinatorError {
    let temporary = status.is_server_error()
        || matches!(status, StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS);
    let kind = problem.as_ref().map(|problem| problem.kind.clone());
    let reason = problem.and_then(|problem| problem.detail.or(problem.title));
    let reason = reason.unwrap_or_else(|| format!("status {status}")).replace(['\n', '\r'], " ");
    let status = status.as_u16();
    match kind {
        _ if temporary => CoordinatorError::Busy { reason, retry_after },
        Some(kind) => CoordinatorError::Refused { status, kind, reason },
        None => CoordinatorError::Foreign { status },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OURS: &str = r#"{"type":"urn:nearcrawl:problem:package-magic","detail":"no\npackage"}"#;

    fn failed(status: u16, media_type: &str, body: &str) -> CoordinatorError {
        let status = StatusCode::from_u16(status).unwrap();
        failure(status, Problem::parse(media_type, body.as_bytes()), Some(Duration::from_secs(300)))
    }

    #[test]
    fn only_the_coordinators_problem_documents_are_refusals() {
        for status in [409, 413, 422] {
            let refused = failed(status, "application/problem+json; charset=utf-8", OURS);
            assert!(refused.rejects_package() && refused.is_refusal(), "{refused}");
            assert!(refused.to_string().ends_with("no package"), "{refused}");
        }
        let foreign = r#"{"type":"about:blank","title":"Forbidden"}"#;
        for status in [400, 401, 403, 410, 413, 422, 426] {
            for (media_type, body) in [
                ("text/html", "<h1>no</h1>"),
                ("application/json", OURS),
                (problem::MEDIA_TYPE, foreign),
                (problem::MEDIA_TYPE, "no"),
            ] {
                let error = failed(status, media_type, body);
                assert!(matches!(error, CoordinatorError::Foreign { .. }), "{error}");
                assert!(!error.is_banned() && !error.rejects_package() && !error.is_refusal());
            }
        }
        let busy = failed(503, "text/html", "");
        assert!(matches!(busy, CoordinatorError::Busy { .. }));
        assert_eq!(busy.retry_after(), Duration::from_secs(300));
    }

    #[test]
    fn only_refusals_that_never_pass_end_the_agent() {
        let refused = |status, kind| {
            let body = format!(r#"{{"type":"{}{kind}","detail":"no"}}"#, problem::TYPE_PREFIX);
            failed(status, problem::MEDIA_TYPE, &body)
        };
        for (status, kind) in [(403, kind::REVOKED), (401, kind::SIGNATURE)] {
            let error = refused(status, kind);
            assert!(error.is_banned() && error.is_refusal() && !error.is_temporary(), "{kind}");
        }
        for (status, kind) in
            [(401, kind::NONCE), (401, kind::NO_SESSION), (403, kind::NOT_APPROVED)]
        {
            let error = refused(status, kind);
            assert!(error.is_temporary() && !error.is_banned() && !error.is_refusal(), "{kind}");
        }
        for (status, kind) in [(403, kind::REVOKED), (404, kind::UNKNOWN_AGENT)] {
            assert!(refused(status, kind).is_gone(), "{kind}");
        }
        let version = refused(426, kind::PROTOCOL_VERSION);
        assert!(version.is_other_version() && !version.is_temporary());
        for waits in [&version, &refused(409, kind::CLOCK_OFF), &refused(401, kind::NONCE)] {
            assert!(waits.is_worth_waiting(), "{waits}");
        }
        assert!(!version.is_banned() && !version.is_refusal() && !version.is_gone());
        assert!(!refused(401, kind::SIGNATURE).is_gone());
        let conflict = refused(409, kind::PACKAGE_CONFLICT);
        assert!(conflict.is_package_conflict() && conflict.rejects_package());
        assert!(!refused(409, "routes-never-made").is_package_conflict());
        let token = refused(401, "join-token");
        assert!(token.is_refusal() && !token.is_temporary() && !token.is_banned());
        assert!(!token.is_worth_waiting());
    }
}
