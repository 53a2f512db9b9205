use std::error::Error as _;
use std::io::ErrorKind;

use sqlx::migrate::MigrateError;

use crate::LEAST_MAJOR;

/// A failed operation on the database.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The database URL is not one.
    #[error(
        "the database URL cannot be read; it looks like postgres://user:password@host/database"
    )]
    Url(#[source] sqlx::Error),
    /// The server cannot be reached.
    #[error("cannot connect to the database at {place}")]
    Connect {
        /// Host or socket directory; never a password.
        place: String,
        /// The error of the driver.
        source: sqlx::Error,
    },
    /// The server keeps connections open, or seems to, and does not answer.
    #[error("the database server at {place} does not answer")]
    Silent {
        /// Host or socket directory; never a password.
        place: String,
    },
    /// The server does not know the SQL of the migrations.
    #[error(
        "Postgres {found} at {place} is too old: nearcrawl needs {LEAST_MAJOR} or later; upgrade \
         that server, or use a newer one as the database"
    )]
    TooOld {
        /// Host or socket directory.
        place: String,
        /// Major version of the server.
        found: u32,
    },
    /// The schema could not be brought up to date.
    #[error("cannot bring the database schema up to date")]
    Migrate(#[source] MigrateError),
    /// The database has no schema, and the program may not create one there.
    #[error(
        "the database {database} at {place} has no tables of nearcrawl: name the database of the \
         coordinator, or start the coordinator first, which makes them"
    )]
    NoSchema {
        /// Host or socket directory; never a password.
        place: String,
        /// Name of the database.
        database: String,
    },
    /// The database has tables, and none of them is ours.
    #[error(
        "the database {database} at {place} contains tables that nearcrawl did not create \
         ({tables}): check the database URL, or create an empty database for nearcrawl"
    )]
    ForeignTables {
        /// Host or socket directory; never a password.
        place: String,
        /// Name of the database.
        database: String,
        /// Names of the first tables.
        tables: String,
    },
    /// The schema is older than this program, which may not migrate it.
    #[error(
        "the database at {place} is of an older nearcrawl (it has {applied} migrations of \
         {known}): start the coordinator of this version first, which migrates it, or use the \
         programs of the older version"
    )]
    Older {
        /// Host or socket directory; never a password.
        place: String,
        /// How many migrations were applied.
        applied: usize,
        /// How many this program has.
        known: usize,
    },
    /// The schema is newer than this program.
    #[error(
        "the database was last used by a newer nearcrawl (migration {version}): install that \
         version again"
    )]
    Newer {
        /// The migration that this program does not know.
        version: i64,
    },
    /// The schema is not one of this program's history.
    #[error(
        "the database is of another program, or of a build before release 0.1.0, whose tables were \
         other ones: use a new database"
    )]
    Unreleased,
    /// A statement failed.
    #[error("cannot {doing}")]
    Statement {
        /// What it was for, as an infinitive.
        doing: &'static str,
        /// The error of the driver.
        source: sqlx::Error,
    },
    /// A column holds what no nearcrawl writes.
    #[error("{what} in the database is not what nearcrawl writes there")]
    Unreadable {
        /// Table and column.
        what: &'static str,
    },
    /// A column holds a word that is not in its closed set.
    #[error("{table}.{column} of row {id} holds {word:?}, which this version does not know")]
    UnknownWord {
        /// Table of the row.
        table: &'static str,
        /// Column with the word.
        column: &'static str,
        /// Primary key of the row.
        id: String,
        /// What the column holds.
        word: String,
    },
    /// Somebody else changed the same thing meanwhile.
    #[error("{what}")]
    Conflict {
        /// What happened and what to do, as one sentence.
        what: &'static str,
    },
    /// The caller led once; another coordinator was elected meanwhile.
    #[error("another coordinator is the leader now, so this one may not write any more")]
    Deposed,
    /// New registry data have far fewer records than what is in use.
    #[error(
        "the new data have far fewer records than the generation in use ({list}): a file may be \
         missing or cut short. Nothing was changed. Fetch the files again, or load with --force if \
         that is how it is now"
    )]
    Shrunken {
        /// Each registry with its records before and now.
        list: String,
    },
    /// The cluster for the tests could not be had.
    #[cfg(feature = "testing")]
    #[error("cannot start the database cluster for the tests")]
    TestCluster(#[source] cluster::ClusterError),
}

impl StoreError {
    /// For `map_err`: `doing` is what the statement was for, as an infinitive ("enrol an agent").
    /// An error of ours from `FromRow` is passed on as it is, because it says more.
    pub(crate) fn doing(doing: &'static str) -> impl Fn(sqlx::Error) -> Self + Copy {
        move |source| match source {
            sqlx::Error::Decode(error) => error.downcast().map_or_else(
                |error| Self::Statement { doing, source: sqlx::Error::Decode(error) },
                |error| *error,
            ),
            source => Self::Statement { doing, source },
        }
    }

    /// `what` is the table and column, e.g. `agents.state`.
    pub(crate) fn unreadable(what: &'static str) -> Self {
        Self::Unreadable { what }
    }

    /// `what` is one sentence with the way out.
    pub(crate) fn conflict(what: &'static str) -> Self {
        Self::Conflict { what }
    }

    /// Whether waiting may help: the server is away, starting, stopping or full of connections;
    /// nothing was wrong with the statement.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Connect { source, .. } | Self::Statement { source, .. } => is_transient(source),
            Self::Silent { .. } => true,
            Self::Migrate(error) => error
                .source()
                .is_some_and(|cause| cause.downcast_ref::<sqlx::Error>().is_some_and(is_transient)),
            _ => false,
        }
    }

    /// Whether the machine of the database has no room left on its disk.
    pub fn is_disk_full(&self) -> bool {
        // 53100: disk_full (PostgreSQL, appendix A).
        matches!(self, Self::Statement { source, .. } if code(source).as_deref() == Some("53100"))
    }
}

/// For `FromRow`, which returns errors of the driver; see [`StoreError::doing`].
impl From<StoreError> for sqlx::Error {
    fn from(error: StoreError) -> Self {
        Self::Decode(Box::new(error))
    }
}

pub(crate) fn code(error: &sqlx::Error) -> Option<String> {
    error.as_database_error()?.code().map(std::borrow::Cow::into_owned)
}

fn is_transient(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Io(error) => error.kind() != ErrorKind::PermissionDenied,
        // A pool is closed when its server fell silent; the next statement has another one.
        sqlx::Error::PoolTimedOut | sqlx::Error::PoolClosed | sqlx::Error::WorkerCrashed => true,
        // PostgreSQL, appendix A: class 08 connection exception, 53300 too many connections,
        // 57P01..03 shutting down, crashed, starting; 40001 and 40P01 lost a race with another
        // transaction.
        sqlx::Error::Database(error) => error.code().is_some_and(|code| {
            code.starts_with("08")
                || ["53300", "57P01", "57P02", "57P03", "40001", "40P01"].contains(&&*code)
        }),
        _ => false,
    }
}
