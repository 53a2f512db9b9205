//! What can go wrong between the agent and its coordinator.

use reqwest::{Response, StatusCode};
use serde::Deserialize;

/// A call that did not do what it should.
#[derive(Debug, thiserror::Error)]
pub enum CoordinatorError {
    /// The client can't be set up.
    #[error("the connection to the coordinator can't be set up")]
    Setup(#[source] reqwest::Error),
    /// Not a base for URLs.
    #[error("{0} can't be the URL of a coordinator")]
    Url(String),
    /// No answer.
    #[error("the coordinator can't be reached")]
    Unreachable(#[source] reqwest::Error),
    /// The coordinator can't just now.
    #[error("the coordinator can't just now: {reason}")]
    Busy {
        /// HTTP status.
        status: u16,
        /// In its words.
        reason: String,
    },
    /// The coordinator won't.
    #[error("the coordinator refuses: {reason}")]
    Refused {
        /// HTTP status.
        status: u16,
        /// In its words.
        reason: String,
    },
    /// The answer is larger than any answer should be.
    #[error("the coordinator's answer is too large")]
    TooLarge,
    /// The answer is not what was agreed.
    #[error("the coordinator's answer can't be read")]
    Answer(#[source] serde_json::Error),
}

impl From<reqwest::Error> for CoordinatorError {
    fn from(error: reqwest::Error) -> Self {
        // The owner knows the URL, and it would make the sentence long.
        Self::Unreachable(error.without_url())
    }
}

impl CoordinatorError {
    /// Whether it is worth trying again.
    pub fn may_pass(&self) -> bool {
        match self {
            // A proxy or a coordinator in the middle of an update may answer with anything.
            Self::Unreachable(_) | Self::Busy { .. } | Self::Answer(_) | Self::TooLarge => true,
            Self::Setup(_) | Self::Url(_) | Self::Refused { .. } => false,
        }
    }

    /// Whether the coordinator does not want to hear from this agent at all.
    pub fn is_banned(&self) -> bool {
        matches!(self, Self::Refused { status: 401 | 403 | 410 | 426, .. })
    }
}

/// RFC 9457, as much of it as counts.
#[derive(Deserialize, Default)]
struct Problem {
    title: Option<String>,
    detail: Option<String>,
}

/// Most of an error's body that is read, in bytes.
const PROBLEM_BYTES: usize = 16 << 10;

/// Passes on an answer of success; turns any other into the error that it tells of.
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
    let said = problem.detail.or(problem.title).unwrap_or_else(|| format!("status {status}"));
    let (status, reason) = (status.as_u16(), said.replace(['\n', '\r'], " "));
    if passes(status) {
        Err(CoordinatorError::Busy { status, reason })
    } else {
        Err(CoordinatorError::Refused { status, reason })
    }
}

fn passes(status: u16) -> bool {
    let code = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_REQUEST);
    code.is_server_error()
        || matches!(code, StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS)
}
