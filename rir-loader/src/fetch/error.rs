//! Why a file cannot be downloaded.

use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use reqwest::header::RETRY_AFTER;
use reqwest::{Response, StatusCode, Url};

/// Why a file cannot be downloaded.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// The HTTP client; usually the system has no CA certificates.
    #[error(
        "cannot set up https; are the system's CA certificates installed (`apt-get install \
         ca-certificates`)?"
    )]
    Client(#[source] reqwest::Error),
    /// No connection, no answer, or a pause in the middle of one.
    #[error(
        "cannot get {url} after {attempts} attempts; what was downloaded is kept, run the command \
         again to continue"
    )]
    Unreachable {
        /// The requested URL.
        url: String,
        /// Requests that failed.
        attempts: u32,
        /// Error of the last request.
        source: reqwest::Error,
    },
    /// The connection ended before the file did.
    #[error(
        "{url} broke off after {got} bytes in the last of {attempts} attempts; they are kept, run \
         the command again to continue"
    )]
    BrokenOff {
        /// The requested URL.
        url: String,
        /// Requests that failed.
        attempts: u32,
        /// Bytes of the file so far.
        got: u64,
        /// Error of the last request.
        source: reqwest::Error,
    },
    /// The bytes downloaded so far are of an edition that the server no longer has.
    #[error(
        "{url} changes from request to request; try again later, or name another server with \
         --base-url or --whois-base-url"
    )]
    Changing {
        /// The requested URL.
        url: String,
    },
    /// An HTTP status that is not a success.
    #[error("{url} answered {status}: {advice}")]
    Status {
        /// The requested URL.
        url: String,
        /// Status of the answer.
        status: StatusCode,
        /// What to do.
        advice: &'static str,
        /// Wait that the server requests.
        retry_after: Option<Duration>,
    },
    /// A checksum file without a checksum.
    #[error(
        "{url} holds no MD5 sum (32 hexadecimal digits); without one the file cannot be checked"
    )]
    NoChecksum {
        /// The requested URL.
        url: String,
    },
    /// The downloaded file differs from the published one.
    #[error(
        "{url} has the MD5 sum {found}, but the registry publishes {wanted}: damaged on the way; \
         nothing was kept"
    )]
    Checksum {
        /// The requested URL.
        url: String,
        /// Checksum that the registry publishes.
        wanted: String,
        /// Checksum of the file that was downloaded twice.
        found: String,
    },
    /// The downloaded file cannot be unpacked.
    #[error("{url} does not unpack ({reason}): damaged, or not a gzip file; nothing was kept")]
    Damaged {
        /// The requested URL.
        url: String,
        /// Error of the decompressor.
        reason: String,
    },
    /// More bytes than any registry publishes.
    #[error("{url} is larger than {limit} bytes; that is no registry file")]
    TooLarge {
        /// The requested URL.
        url: String,
        /// Largest accepted size in bytes.
        limit: u64,
    },
    /// The unfinished download is locked.
    #[error("another rir-loader is downloading {path}; wait for it")]
    Busy {
        /// The unfinished file.
        path: PathBuf,
    },
    /// A local file.
    #[error("cannot {action} {path}")]
    Disk {
        /// What was attempted, as a verb.
        action: &'static str,
        /// The file concerned.
        path: PathBuf,
        /// Error of the file system.
        source: io::Error,
    },
}

impl FetchError {
    pub(super) fn disk(
        action: &'static str,
        path: &Path,
    ) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::Disk { action, path, source }
    }

    pub(super) fn unreachable(url: &Url, source: reqwest::Error) -> Self {
        Self::Unreachable { url: url.to_string(), attempts: 1, source: source.without_url() }
    }

    pub(super) fn broken_off(url: &Url, got: u64, source: reqwest::Error) -> Self {
        Self::BrokenOff { url: url.to_string(), attempts: 1, got, source: source.without_url() }
    }

    pub(super) fn status(url: &Url, response: &Response) -> Self {
        let status = response.status();
        let advice = match status.as_u16() {
            404 | 410 => {
                "the registry may have moved the file; name another server with --base-url or \
                 --whois-base-url"
            }
            401 | 403 => {
                "the server refuses access; name another server with --base-url or --whois-base-url"
            }
            429 | 500..=599 => "the server has a problem or wants fewer requests; try again later",
            _ => "that is not what a registry answers; is the URL right?",
        };
        let wait = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok());
        let retry_after = wait.and_then(parse_seconds);
        Self::Status { url: url.to_string(), status, advice, retry_after }
    }

    /// Whether the same request may succeed a moment later.
    pub(super) fn is_temporary(&self) -> bool {
        match self {
            Self::Unreachable { .. } | Self::BrokenOff { .. } | Self::Changing { .. } => true,
            Self::Status { status, .. } => {
                status.is_server_error()
                    || matches!(
                        *status,
                        StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT
                    )
            }
            _ => false,
        }
    }

    /// The wait that the server requests.
    pub(super) fn retry_after(&self) -> Duration {
        match self {
            Self::Status { retry_after, .. } => retry_after.unwrap_or_default(),
            _ => Duration::ZERO,
        }
    }

    pub(super) fn with_attempts(mut self, count: u32) -> Self {
        if let Self::Unreachable { attempts, .. } | Self::BrokenOff { attempts, .. } = &mut self {
            *attempts = count;
        }
        self
    }

    /// The error without advice, for progress.
    pub(super) fn short(&self) -> String {
        match self {
            Self::Status { url, status, .. } => format!("{url} answered {status}"),
            Self::Unreachable { url, source, .. } => {
                format!("{url} cannot be reached: {}", root_cause(source))
            }
            Self::BrokenOff { url, got, source, .. } => {
                format!("{url} broke off after {got} bytes: {}", root_cause(source))
            }
            other => other.to_string(),
        }
    }
}

/// `Retry-After` in seconds (RFC 9110, section 10.2.3). Its other form, a date, is hardly used and
/// ignored.
fn parse_seconds(retry_after: &str) -> Option<Duration> {
    retry_after.trim().parse().ok().map(Duration::from_secs)
}

/// The innermost cause; the outer messages of reqwest only repeat the URL.
fn root_cause(error: &reqwest::Error) -> String {
    let mut cause: &dyn Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_may_request_a_wait() {
        for (text, wait) in [
            ("0", Some(0)),
            (" 120 ", Some(120)),
            ("Fri, 31 Dec 1999 23:59:59 GMT", None),
            ("-1", None),
        ] {
            assert_eq!(parse_seconds(text), wait.map(Duration::from_secs), "{text}");
        }
        let busy = FetchError::Status {
            url: "https://a.example/".to_owned(),
            status: StatusCode::TOO_MANY_REQUESTS,
            advice: "",
            retry_after: parse_seconds("120"),
        };
        let changing = FetchError::Changing { url: String::new() };
        assert_eq!(
            (busy.retry_after(), changing.retry_after()),
            (Duration::from_secs(120), Duration::ZERO)
        );
    }
}
