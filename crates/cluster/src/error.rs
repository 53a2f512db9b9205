use std::io;
use std::path::PathBuf;

use crate::{LEAST_MAJOR, ownership};

/// Reason why there is no private cluster.
#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    /// No directory contains both `initdb` and `postgres`.
    #[error(
        "found no Postgres server binaries (searched {searched}): run \
         `apt-get install postgresql`, or set NEARCRAWL_PG_BIN to the directory of other binaries, \
         or DATABASE_URL to a server of your own"
    )]
    NoBinaries {
        /// The places that were searched, separated by commas.
        searched: String,
    },
    /// All binaries found are older than a new cluster needs.
    #[error(
        "Postgres {found} in {binaries} is too old: nearcrawl needs {LEAST_MAJOR} or later; \
         install one from https://www.postgresql.org/download, or set DATABASE_URL to a server of \
         your own"
    )]
    TooOld {
        /// Directory of the best binaries found.
        binaries: PathBuf,
        /// Major version of those binaries.
        found: u32,
    },
    /// The data was written by another major version than that of the binaries found.
    #[error(
        "{data} was created by Postgres {expected} but {binaries} is Postgres {found}: install \
         postgresql-{expected}, or dump with the old version (`pg_dumpall`) and restore into an \
         empty directory"
    )]
    OtherVersion {
        /// Directory with the `PG_VERSION` file.
        data: PathBuf,
        /// Major version in that file.
        expected: String,
        /// Directory of the binaries found.
        binaries: PathBuf,
        /// Major version of those binaries.
        found: String,
    },
    /// This process runs as root, and there is no other user to run Postgres as.
    #[error(
        "Postgres refuses to run as root and none of the users nearcrawl, postgres, nobody exists \
         here"
    )]
    NoUser,
    /// The user database could not be read.
    #[error("cannot look up user {name}")]
    LookUpUser {
        /// Name of the user.
        name: String,
        /// Error of the system.
        source: nix::Error,
    },
    /// The server's user may not traverse a parent directory.
    #[error(
        "user {user} cannot enter {blocked}, which is on the way to {path}: run \
         `chmod o+x {blocked}`"
    )]
    NotReachable {
        /// The user that Postgres runs as.
        user: String,
        /// The directory without the permission.
        blocked: PathBuf,
        /// The file or directory that Postgres needs.
        path: PathBuf,
    },
    /// A directory or file of the cluster could not be created, read or changed.
    #[error("cannot prepare {path}")]
    Prepare {
        /// The directory or file.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// The caller may not use a directory or file of the cluster, because it is another user's.
    #[error("cannot prepare {path}: {error}; {remedy}")]
    NotPermitted {
        /// The directory or file.
        path: PathBuf,
        /// Error of the system.
        error: io::Error,
        /// What the caller can do.
        remedy: String,
    },
    /// A program could not be started.
    #[error("cannot run {program}")]
    Spawn {
        /// Full path of the program.
        program: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// `initdb` ended with an error.
    #[error("initdb in {path} failed: {output}")]
    Initdb {
        /// The new data directory.
        path: PathBuf,
        /// The last lines it printed.
        output: String,
    },
    /// The server ended before it was ready.
    #[error("postgres in {path} did not start: {output}")]
    Start {
        /// The data directory.
        path: PathBuf,
        /// The last lines it printed.
        output: String,
    },
    /// The server did not accept connections in time.
    #[error("postgres in {path} was not ready within {seconds} s")]
    Timeout {
        /// The data directory.
        path: PathBuf,
        seconds: u64,
    },
    /// Another process owns the cluster.
    #[error(
        "{path} is in use by process {owner}: wait until it ends, stop it, or choose another data \
         directory"
    )]
    InUse {
        /// The directory that holds the cluster.
        path: PathBuf,
        /// Number of the process in the lock file, or `unknown`.
        owner: String,
    },
    /// A server without an owner does not end: it was started by hand, or it cannot shut down.
    #[error(
        "a postgres that this program did not start runs in {path} as process {pid}: stop it with \
         `kill -INT {pid}`"
    )]
    StillRunning {
        /// The data directory.
        path: PathBuf,
        /// Number of the postmaster.
        pid: i32,
    },
    /// The thread that supervises the server could not be started.
    #[error("cannot start the thread that supervises postgres")]
    Thread(#[source] io::Error),
    /// The server was stopped before it was ready.
    #[error("postgres in {path} was stopped while it started")]
    Stopped {
        /// The data directory.
        path: PathBuf,
    },
}

impl ClusterError {
    /// Adds the path to an error of the system.
    pub(crate) fn prepare(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| match ownership::remedy(&path) {
            Some(remedy) if source.kind() == io::ErrorKind::PermissionDenied => {
                Self::NotPermitted { path, error: source, remedy }
            }
            _ => Self::Prepare { path, source },
        }
    }

    /// Whether the machine lacks something that its operator can install, as opposed to a failure.
    pub fn is_unavailable(&self) -> bool {
        matches!(
            self,
            Self::NoBinaries { .. }
                | Self::TooOld { .. }
                | Self::NoUser
                | Self::OtherVersion { .. }
        )
    }
}
