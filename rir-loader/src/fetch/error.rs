//! Why a file could not be fetched.

use std::io;
use std::path::{Path, PathBuf};

use reqwest::StatusCode;

/// What was attempted.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// The HTTP client could not be set up; usually the system has no CA certificates.
    #[error(
        "cannot set up https; are the system's CA certificates installed (`apt-get install ca-certificates`)?"
    )]
    Client(#[source] reqwest::Error),
    /// The server could not be reached, or went silent, time and again.
    #[error(
        "cannot get {url} after {attempts} attempts; what was downloaded is kept, run the command again to go on"
    )]
    Unreachable {
        /// What was asked for.
        url: String,
        /// How often.
        attempts: u32,
        /// What went wrong last.
        source: reqwest::Error,
    },
    /// The data broke off, time and again.
    #[error(
        "{url} broke off after {got} bytes in the last of {attempts} attempts; they are kept, run the command again to go on"
    )]
    BrokenOff {
        /// What was asked for.
        url: String,
        /// How often.
        attempts: u32,
        /// Bytes that are there.
        got: u64,
        /// What went wrong last.
        source: reqwest::Error,
    },
    /// Each attempt met another edition.
    #[error(
        "{url} changes from request to request; try again later, or name another place with --base-url or --whois-base-url"
    )]
    Changing {
        /// What was asked for.
        url: String,
    },
    /// The server said no.
    #[error("{url} answered {status}: {advice}")]
    Status {
        /// What was asked for.
        url: String,
        /// The answer.
        status: StatusCode,
        /// What to do.
        advice: &'static str,
    },
    /// The file beside the data holds no MD5 sum.
    #[error(
        "{url} holds no MD5 sum (32 hexadecimal digits); without one the file cannot be checked"
    )]
    NoChecksum {
        /// What was asked for.
        url: String,
    },
    /// The data are not what the registry published.
    #[error(
        "{url} has the MD5 sum {found}, but the registry publishes {wanted}: damaged on the way; nothing was kept"
    )]
    Checksum {
        /// What was asked for.
        url: String,
        /// What the registry publishes.
        wanted: String,
        /// What was downloaded twice.
        found: String,
    },
    /// A packed file that does not unpack.
    #[error("{url} does not unpack ({why}): damaged, or no gzip file at all; nothing was kept")]
    Damaged {
        /// What was asked for.
        url: String,
        /// What was wrong with what was downloaded twice.
        why: String,
    },
    /// More than any registry publishes.
    #[error("{url} is larger than {limit} bytes; that is no registry file")]
    TooLarge {
        /// What was asked for.
        url: String,
        /// Most bytes that are taken.
        limit: u64,
    },
    /// Another process downloads the same file into the same directory.
    #[error("another rir-loader is downloading {path}; wait for it")]
    Busy {
        /// The unfinished file.
        path: PathBuf,
    },
    /// The disk refused.
    #[error("cannot {doing} {path}")]
    Disk {
        /// What was attempted, as a verb.
        doing: &'static str,
        /// With which file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl FetchError {
    pub(super) fn disk(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::Disk { doing, path, source }
    }

    /// For an answer that is not a success.
    pub(super) fn status(url: &reqwest::Url, status: StatusCode) -> Self {
        let advice = match status.as_u16() {
            404 | 410 => {
                "the registry may have moved the file; name another place with --base-url or --whois-base-url"
            }
            401 | 403 => {
                "the server does not want us; name another place with --base-url or --whois-base-url"
            }
            429 | 500..=599 => "the server has trouble or wants fewer requests; try again later",
            _ => "that is not what a registry answers; is the URL right?",
        };
        Self::Status { url: url.to_string(), status, advice }
    }
}
