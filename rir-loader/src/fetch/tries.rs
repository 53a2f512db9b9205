//! Trouble on the way, and how often it is put up with.

use std::time::Duration;

use reqwest::header::RETRY_AFTER;
use reqwest::{Response, StatusCode, Url};

use super::Patience;
use super::error::FetchError;
use crate::watch::{Step, Watch};

/// Why an attempt came to nothing.
pub(super) enum Trouble {
    /// No connection, no answer, or silence in the middle of one.
    Request(reqwest::Error),
    /// The data broke off with so many bytes there.
    Body { got: u64, source: reqwest::Error },
    /// The server said no, and perhaps when to come again.
    Status { status: StatusCode, wait: Option<Duration> },
    /// The bytes at hand are of an edition that the server no longer has; they were thrown away.
    Stale,
    /// What no further attempt can mend.
    Fatal(FetchError),
}

/// Longest wait that a server may ask for; whoever asks for more is left alone.
const LONGEST_WAIT: Duration = Duration::from_secs(300);

impl Trouble {
    /// For an answer that is not a success.
    pub(super) fn status(response: &Response) -> Self {
        let wait = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok());
        Self::Status { status: response.status(), wait: wait.and_then(seconds) }
    }

    fn wait(&self) -> Duration {
        match self {
            Self::Status { wait: Some(wait), .. } => *wait,
            _ => Duration::ZERO,
        }
    }
}

/// `Retry-After` in seconds (RFC 9110, section 10.2.3). Its other form is a date, which servers
/// hardly use; then our own pause is waited for.
fn seconds(retry_after: &str) -> Option<Duration> {
    retry_after.trim().parse().ok().map(Duration::from_secs)
}

impl From<FetchError> for Trouble {
    fn from(error: FetchError) -> Self {
        Self::Fatal(error)
    }
}

/// The attempts at one URL.
pub(super) struct Tries<'w> {
    url: Url,
    patience: Patience,
    made: u32,
    watch: Watch<'w>,
}

impl<'w> Tries<'w> {
    pub(super) fn new(url: Url, patience: Patience, watch: Watch<'w>) -> Self {
        Self { url, patience, made: 0, watch }
    }

    /// Returns when it is time for another attempt; an error when there shall be none.
    pub(super) async fn again(&mut self, trouble: Trouble) -> Result<(), FetchError> {
        self.made += 1;
        let why = match &trouble {
            Trouble::Fatal(_) => return Err(self.last_word(trouble)),
            Trouble::Status { status, .. } if !may_pass(*status) => {
                return Err(self.last_word(trouble));
            }
            _ if trouble.wait() > LONGEST_WAIT => return Err(self.last_word(trouble)),
            _ if self.made >= self.most(&trouble) => return Err(self.last_word(trouble)),
            Trouble::Stale => return Ok(()),
            Trouble::Status { status, .. } => format!("{} answered {status}", self.url),
            Trouble::Request(error) => {
                format!("{} cannot be reached: {}", self.url, innermost(error))
            }
            Trouble::Body { got, source } => {
                format!("{} broke off after {got} bytes: {}", self.url, innermost(source))
            }
        };
        (self.watch)(Step::Again { why: &why });
        tokio::time::sleep(self.pause().max(trouble.wait())).await;
        Ok(())
    }

    fn most(&self, trouble: &Trouble) -> u32 {
        match trouble {
            Trouble::Request(error) if error.is_connect() => {
                self.patience.connections.min(self.patience.attempts)
            }
            _ => self.patience.attempts,
        }
    }

    fn pause(&self) -> Duration {
        self.patience.pause.saturating_mul(2_u32.saturating_pow(self.made.saturating_sub(1)))
    }

    fn last_word(&self, trouble: Trouble) -> FetchError {
        let (url, attempts) = (self.url.to_string(), self.made);
        match trouble {
            Trouble::Fatal(error) => error,
            Trouble::Status { status, .. } => FetchError::status(&self.url, status),
            Trouble::Request(source) => {
                FetchError::Unreachable { url, attempts, source: source.without_url() }
            }
            Trouble::Body { got, source } => {
                FetchError::BrokenOff { url, attempts, got, source: source.without_url() }
            }
            Trouble::Stale => FetchError::Changing { url },
        }
    }
}

/// Whether the same request may succeed a moment later.
fn may_pass(status: StatusCode) -> bool {
    status.is_server_error()
        || matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT)
}

/// The cause that says something: reqwest's own words name the URL once more.
fn innermost(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_may_say_when_to_come_again() {
        for (text, wait) in [
            ("0", Some(0)),
            (" 120 ", Some(120)),
            ("Fri, 31 Dec 1999 23:59:59 GMT", None),
            ("-1", None),
        ] {
            assert_eq!(seconds(text), wait.map(Duration::from_secs), "{text}");
        }
        let asked = Trouble::Status { status: StatusCode::TOO_MANY_REQUESTS, wait: seconds("120") };
        assert_eq!(
            (asked.wait(), Trouble::Stale.wait()),
            (Duration::from_secs(120), Duration::ZERO)
        );
    }
}
