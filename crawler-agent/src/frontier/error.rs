//! Errors of the frontier.

use std::path::{Path, PathBuf};

/// A failure of the frontier.
#[derive(Debug, thiserror::Error)]
pub enum FrontierError {
    /// Another process has the file open.
    #[error("{0} is in use: is another agent running with this data directory?")]
    InUse(PathBuf),
    /// The file cannot be opened.
    #[error("the frontier {path} cannot be opened")]
    Open {
        /// Path of the file.
        path: PathBuf,
        /// Error of the store.
        #[source]
        source: Box<redb::Error>,
    },
    /// Reading or writing failed.
    #[error("the frontier cannot be read or written")]
    Store(#[source] Box<redb::Error>),
    /// A record cannot be parsed.
    #[error("a record of the frontier cannot be parsed")]
    Record(#[from] serde_json::Error),
    /// The writer has ended after an earlier error.
    #[error("the frontier is closed after an earlier error")]
    Closed,
}

impl FrontierError {
    pub(super) fn open(path: &Path, error: redb::DatabaseError) -> Self {
        match error {
            redb::DatabaseError::DatabaseAlreadyOpen => Self::InUse(path.to_owned()),
            other => Self::Open { path: path.to_owned(), source: Box::new(other.into()) },
        }
    }
}

macro_rules! from_redb {
    ($($error:ident),*) => {
        $(impl From<redb::$error> for FrontierError {
            fn from(error: redb::$error) -> Self {
                Self::Store(Box::new(error.into()))
            }
        })*
    };
}

from_redb!(TransactionError, TableError, StorageError, CommitError);
