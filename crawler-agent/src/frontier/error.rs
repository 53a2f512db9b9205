//! What can go wrong with the file.

use std::path::{Path, PathBuf};

/// The frontier can't do what it was asked to.
#[derive(Debug, thiserror::Error)]
pub enum FrontierError {
    /// Another process has it open.
    #[error("{0} is in use: is another agent running with this data directory?")]
    InUse(PathBuf),
    /// It can't be opened.
    #[error("the frontier {path} can't be opened")]
    Open {
        /// Which file.
        path: PathBuf,
        /// Why.
        #[source]
        source: Box<redb::Error>,
    },
    /// Reading or writing failed.
    #[error("the frontier can't be read or written")]
    Store(#[source] Box<redb::Error>),
    /// A record is not what it should be.
    #[error("a record of the frontier can't be read")]
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
