//! Errors of the file `region.redb`. The store panics where it is damaged; that becomes an error.

use std::{
    io::ErrorKind,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
};

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

impl PeersDiskError {
    /// Names the file, if what could not be read says that it is damaged.
    fn in_file(self, path: &Path) -> Self {
        let is_damage = match &self {
            Self::Row(_) => true,
            Self::Database(error) => is_damage(error),
            Self::Damaged { .. } | Self::Closed => false,
        };
        if is_damage {
            Self::Damaged { path: path.to_owned(), source: Some(Box::new(self)) }
        } else {
            self
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

/// Runs an operation on the file at `path`. The store panics at pages that it cannot have written;
/// that becomes an error which names the file, after which it is not used any more.
fn guarded<T>(path: &Path, operation: impl FnOnce() -> Result<T>) -> Result<T> {
    let done = catch_unwind(AssertUnwindSafe(operation))
        .unwrap_or_else(|_| Err(PeersDiskError::Damaged { path: path.to_owned(), source: None }));
    done.map_err(|error| error.in_file(path))
}

/// The database or a transaction, of which each use is [`guarded`].
pub(super) struct Guarded<T> {
    pub(super) path: PathBuf,
    /// None only while this is dropped.
    opened: Option<T>,
}

impl<T> Guarded<T> {
    pub(super) fn open(path: &Path, open: impl FnOnce() -> Result<T>) -> Result<Self> {
        let opened = Some(guarded(path, open)?);
        Ok(Self { path: path.to_owned(), opened })
    }

    pub(super) fn with<R>(&self, operation: impl FnOnce(&T) -> Result<R>) -> Result<R> {
        let opened = self.opened.as_ref().ok_or(PeersDiskError::Closed)?;
        guarded(&self.path, || operation(opened))
    }

    pub(super) fn end<R>(mut self, operation: impl FnOnce(T) -> Result<R>) -> Result<R> {
        let opened = self.opened.take().ok_or(PeersDiskError::Closed)?;
        guarded(&self.path, || operation(opened))
    }
}

impl<T> Drop for Guarded<T> {
    /// After a panic the store panics again when it is closed.
    fn drop(&mut self) {
        let opened = self.opened.take();
        // An error is known already by the operation before.
        drop(catch_unwind(AssertUnwindSafe(|| drop(opened))));
    }
}

/// Whether the error says that the file is damaged. A full disk or one that fails does not; a file
/// that is too short, or does not begin like one of the store, does.
fn is_damage(error: &redb::Error) -> bool {
    match error {
        redb::Error::Io(error) => {
            matches!(error.kind(), ErrorKind::UnexpectedEof | ErrorKind::InvalidData)
        }
        redb::Error::PreviousIo | redb::Error::DatabaseAlreadyOpen => false,
        _ => true,
    }
}
