//! Failures of the blob store.

use std::io;

use crate::runtime::free_space::MIN_FREE_FILES;

/// Why a blob could not be stored or read.
#[derive(Debug, thiserror::Error)]
pub enum BlobError {
    /// The storage cannot be used.
    #[error("cannot use {place} for packages")]
    Open {
        /// The directory or bucket.
        place: String,
        /// The error of the storage.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The options of S3 name something that it does not have.
    #[error(
        "the setting {key:?} in [s3] is not known; most servers need endpoint_url, region, \
         access_key_id and secret_access_key"
    )]
    UnknownOption {
        /// What the option was called.
        key: String,
    },
    /// The options of S3 do not fit together, or have unusable values.
    #[error("the settings of {place} cannot be used")]
    Options {
        /// The location of the bucket.
        place: String,
        /// The error of the client.
        #[source]
        source: object_store::Error,
    },
    /// The disk has less free space than the configuration demands.
    #[error("the coordinator's disk is full: {free_mib} MiB left, {needed_mib} MiB are kept free")]
    Full {
        /// Free space on the disk.
        free_mib: u64,
        /// Free space that must remain.
        needed_mib: u64,
    },
    /// The file system has room for few files more.
    #[error(
        "the coordinator's disk has room for {free} files only, see `df -i`; {MIN_FREE_FILES} are \
         kept free"
    )]
    FullOfFiles {
        /// Files that can still be made.
        free: u64,
    },
    /// The blob could not be written or synced.
    #[error("cannot store {key}")]
    Write {
        /// Key of the blob.
        key: String,
        /// The error of the storage.
        #[source]
        source: object_store::Error,
    },
    /// The blob could not be read.
    #[error("cannot read {key}")]
    Read {
        /// Key of the blob.
        key: String,
        /// The error of the storage.
        #[source]
        source: object_store::Error,
    },
}

impl BlobError {
    /// Whether freeing disk space solves it.
    pub fn is_full(&self) -> bool {
        match self {
            Self::Full { .. } | Self::FullOfFiles { .. } => true,
            Self::Write { source, .. } => is_storage_full(source),
            Self::Open { .. }
            | Self::UnknownOption { .. }
            | Self::Options { .. }
            | Self::Read { .. } => false,
        }
    }

    /// Whether there is no blob of that key.
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::Read { source: object_store::Error::NotFound { .. }, .. })
    }
}

fn is_storage_full(error: &(dyn std::error::Error + 'static)) -> bool {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if error
            .downcast_ref::<io::Error>()
            .is_some_and(|io| io.kind() == io::ErrorKind::StorageFull)
        {
            return true;
        }
        cause = error.source();
    }
    false
}
