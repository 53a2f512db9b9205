//! Errors of the file `region.redb`.

use std::path::PathBuf;

use crate::guarded_file::{self, FileError};

/// The file failed, or holds what no version writes.
#[derive(Debug, thiserror::Error)]
pub enum PeersDiskError {
    /// The database failed.
    #[error("the file region.redb failed")]
    Database(#[from] Box<redb::Error>),
    /// A row cannot be read.
    #[error("a row of region.redb cannot be read or written")]
    Row(#[from] postcard::Error),
    /// The file holds something else than what was written into it.
    #[error("{path} is damaged; delete it while the agent is stopped")]
    Damaged {
        /// Path of the file.
        path: PathBuf,
        /// What could not be read; none where the store itself gave up.
        #[source]
        source: Option<Box<PeersDiskError>>,
    },
    /// The file is not used any more.
    #[error("the file region.redb is closed")]
    Closed,
}

impl FileError for PeersDiskError {
    fn damaged(path: PathBuf, source: Option<Box<Self>>) -> Self {
        Self::Damaged { path, source }
    }

    fn closed() -> Self {
        Self::Closed
    }

    fn is_damage(&self) -> bool {
        match self {
            Self::Row(_) => true,
            Self::Database(error) => guarded_file::is_damage(error),
            Self::Damaged { .. } | Self::Closed => false,
        }
    }
}

macro_rules! from_redb {
    ($($error:ident),*) => {
        $(impl From<redb::$error> for PeersDiskError {
            fn from(error: redb::$error) -> Self {
                Self::Database(Box::new(error.into()))
            }
        })*
    };
}
from_redb!(DatabaseError, TransactionError, TableError, StorageError, CommitError);

pub(super) type Result<T> = std::result::Result<T, PeersDiskError>;
