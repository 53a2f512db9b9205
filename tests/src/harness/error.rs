use std::io;
use std::path::PathBuf;
use std::time::Duration;

use crate::net::NetError;

/// What was attempted with a program under test.
#[derive(Debug, thiserror::Error)]
pub enum HarnessError {
    /// Cargo has not built it.
    #[error("{0} is not built; run `cargo build --workspace --bins`")]
    NotBuilt(PathBuf),
    /// A file or folder of the run.
    #[error("cannot prepare {path}")]
    Prepare { path: PathBuf, source: io::Error },
    /// The program could not be started or signalled.
    #[error("cannot {what} {program}")]
    Handle {
        /// Infinitive: start, stop, wait for.
        what: &'static str,
        /// How the harness calls it.
        program: String,
        source: io::Error,
    },
    /// The program ended while something was expected of it.
    #[error("{program} ended ({status}) while waiting for {wanted}; it said: {said}")]
    Ended {
        /// How the harness calls it.
        program: String,
        /// Its exit status.
        status: String,
        /// What was waited for.
        wanted: String,
        /// Its last words.
        said: String,
    },
    /// Something did not come about in time.
    #[error("no {wanted} within {limit:?}; last seen: {seen}")]
    Late {
        /// What was waited for.
        wanted: String,
        limit: Duration,
        /// The last status.
        seen: String,
    },
    /// A request to the coordinator failed.
    #[error("cannot {what} at the coordinator")]
    Request { what: String, source: reqwest::Error },
    /// The coordinator refused.
    #[error("the coordinator answered {status} to: {what}: {said}")]
    Refused {
        what: String,
        status: u16,
        /// The body, shortened.
        said: String,
    },
    /// The answer lacks something.
    #[error("the coordinator's answer to: {what}: has no {field}")]
    Answer {
        what: String,
        /// A JSON pointer or header name.
        field: &'static str,
    },
    /// The virtual internet.
    #[error("cannot reach into the virtual internet")]
    Net(#[from] NetError),
}

impl HarnessError {
    pub(crate) fn prepare(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Prepare { path, source }
    }

    pub(crate) fn handle(what: &'static str, program: &str) -> impl FnOnce(io::Error) -> Self {
        let program = program.to_owned();
        move |source| Self::Handle { what, program, source }
    }
}
