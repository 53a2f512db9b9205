//! Errors of calls to the coordinator.

use reqwest::{Response, StatusCode};
use serde::Deserialize;

/// A call that failed.
#[derive(Debug, thiserror::Error)]
pub enum CoordinatorError {
    /// The HTTP client cannot be set up.
    #[error("the connection to the coordinator cannot be set up")]
    Setup(#[source] reqwest::Error),
    /// The configured URL cannot be the base of others.
    #[error("{0} cannot be the URL of a coordinator")]
    Url(String),
    /// The coordinator did not answer.
    #[error("the coordinator cannot be reached")]
    Unreachable(#[source] reqwest::Error),
    /// The coordinator cannot answer now, but may do so later.
    #[error("the coordinator is unavailable: {reason}")]
    Busy {
        /// HTTP status, 5xx, 408 or 429.
        status: u16,
        /// The coordinator's explanation.
        reason: String,
    },
    /// The coordinator refuses this call.
    #[error("the coordinator refuses: {reason}")]
    Refused {
        /// HTTP status, usually 4xx.
        status: u16,
        /// The coordinator's explanation.
        reason: String,
    },
    /// The answer exceeds every size that the protocol allows.
    #[error("the coordinator's answer is too large")]
    TooLarge,
    /// The answer is not what the protocol says.
    #[error("the coordinator's answer cannot be parsed")]
    Answer(#[source] serde_json::Error),
}

impl From<reqwest::Error> for CoordinatorError {
    fn from(error: reqwest::Error) -> Self {
        // The owner knows the URL, and it would make the message long.
        Self::Unreachable(error.without_url())
    }
}

impl CoordinatorError {
    /// Whether a later attempt may succeed.
    pub fn is_temporary(&self) -> bool {
        match self {
            // A proxy, or a coordinator in the middle of an update, may answer with anything.
            Self::Unreachable(_) | Self::Busy { .. } | Self::Answer(_) | Self::TooLarge => true,
            Self::Setup(_) | Self::Url(_) | Self::Refused { .. } => false,
        }
    }

    /// Whether the coordinator refuses every call of this agent: its session, state or version.
    pub fn is_banned(&self) -> bool {
        matches!(self, Self::Refused { status: 401 | 403 | 410 | 426, .. })
    }
}

/// The members of an RFC 9457 problem that an owner can use.
#[derive(Deserialize, Default)]
struct Problem {
    title: Option<String>,
    detail: Option<String>,
}

/// Most bytes of an error's body that are read.
const PROBLEM_BYTES: usize = 16 << 10;

/// Passes a successful answer on; turns any other into an error.
pub(super) async fn check(mut response: Response) -> Result<Response, CoordinatorError> {
    let status = response.status();
    if status.is_success() {
        return Ok(response);
    }
    let mut body = Vec::new();
    while let Ok(Some(chunk)) = response.chunk().await {
        body.extend_from_slice(&chunk);
        if body.len() > PROBLEM_BYTES {
            break;
        }
    }
    let problem: Problem = serde_json::from_slice(&body).unwrap_or_default();
    let reason = problem.detail.or(problem.title).unwrap_or_else(|| format!("status {status}"));
    let reason = reason.replace(['\n', '\r'], " ");
    let temporary = status.is_server_error()
        || matches!(status, StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS);
    let status = status.as_u16();
    Err(if temporary {
        CoordinatorError::Busy { status, reason }
    } else {
        CoordinatorError::Refused { status, reason }
    })
}
