//! Why a package was not ingested.

use index::WriteError;
use protocol::key::KeyError;
use protocol::package::PackageError;
use store::StoreError;
use tokio::task::JoinError;

use crate::packages::blob_store::BlobError;

/// Why a package was not ingested.
#[derive(Debug, thiserror::Error)]
pub enum IngestError {
    /// The body could not be read.
    #[error(transparent)]
    Blob(#[from] BlobError),
    /// The body does not have the hash of the acknowledged one.
    #[error("its body was changed after it was received")]
    BodyChanged,
    /// The agent's key in the database is not a key.
    #[error(transparent)]
    Key(KeyError),
    /// The body does not verify any more.
    #[error(transparent)]
    Package(PackageError),
    /// The index did not accept a page, or could not be committed.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The database refused a statement, or did not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A thread panicked.
    #[error("the thread that ingests ended")]
    Thread(#[from] JoinError),
}

impl IngestError {
    /// Whether the package is the cause, so that others can be ingested meanwhile. Else all of them
    /// must wait: the index or the database is not available.
    pub fn concerns_package(&self) -> bool {
        match self {
            Self::Blob(_) | Self::BodyChanged | Self::Key(_) | Self::Package(_) => true,
            Self::Store(error) => !error.is_transient() && !error.is_disk_full(),
            Self::Thread(error) => error.is_panic(),
            Self::Write(_) => false,
        }
    }
}
