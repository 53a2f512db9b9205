//! Blob store: the bytes of packages, as received, in object storage under the data directory.
//!
//! The blob is written before its row in `packages`. A blob without a row is one that its agent
//! sends again. The key contains the hash of the content, so that another package with a used
//! number never overwrites an acknowledged one.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use object_store::local::LocalFileSystem;
use object_store::{ObjectStore, ObjectStoreExt as _};
use protocol::package::PackageName;

/// Why a blob could not be stored or read.
#[derive(Debug, thiserror::Error)]
pub enum BlobError {
    /// The directory cannot be used.
    #[error("cannot use the package directory {path}")]
    Open {
        /// Path of the directory.
        path: PathBuf,
        /// The error of the storage.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The disk has less free space than the configuration demands.
    #[error("the coordinator's disk is full: {free_mib} MiB left, {needed_mib} MiB are kept free")]
    Full {
        /// Free space on the disk.
        free_mib: u64,
        /// Free space that must remain.
        needed_mib: u64,
    },
    /// The blob could not be written or synced.
    #[error("cannot store the package {key}")]
    Write {
        /// Key of the blob.
        key: String,
        /// The error of the storage.
        #[source]
        source: object_store::Error,
    },
    /// The blob could not be read.
    #[error("cannot read the package {key}")]
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
            Self::Full { .. } => true,
            Self::Write { source, .. } => is_storage_full(source),
            Self::Open { .. } | Self::Read { .. } => false,
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

/// Bodies of packages by key; cheap to clone.
#[derive(Debug, Clone)]
pub struct BlobStore {
    objects: Arc<dyn ObjectStore>,
    dir: PathBuf,
    min_free_mib: u64,
}

impl BlobStore {
    /// Opens or creates a directory. Writes are refused while its disk has less than `min_free_mib`
    /// free.
    pub fn open(dir: &Path, min_free_mib: u64) -> Result<Self, BlobError> {
        let failed = |source: Box<dyn std::error::Error + Send + Sync>| BlobError::Open {
            path: dir.into(),
            source,
        };
        std::fs::create_dir_all(dir).map_err(|e| failed(e.into()))?;
        let local =
            LocalFileSystem::new_with_prefix(dir).map_err(|e| failed(e.into()))?.with_fsync(true);
        Ok(Self { objects: Arc::new(local), dir: dir.to_owned(), min_free_mib })
    }

    /// The key of a package whose SHA-256 is `sha256` in hexadecimal.
    pub fn key(name: &PackageName, sha256: &str) -> String {
        format!("{}/{}/{}-{sha256}.ncpk", name.agent, name.epoch, name.seq)
    }

    /// Stores a blob; it is durable when this returns.
    pub async fn put(&self, key: &str, body: Bytes) -> Result<(), BlobError> {
        self.check_free_space()?;
        let put = self.objects.put(&key.into(), body.into()).await;
        put.map(drop).map_err(|source| BlobError::Write { key: key.to_owned(), source })
    }

    /// Reads a blob.
    pub async fn get(&self, key: &str) -> Result<Bytes, BlobError> {
        let failed = |source| BlobError::Read { key: key.to_owned(), source };
        self.objects.get(&key.into()).await.map_err(failed)?.bytes().await.map_err(failed)
    }

    fn check_free_space(&self) -> Result<(), BlobError> {
        // If the free space is unknown, the write itself fails when the disk is full.
        let Ok(disk) = nix::sys::statvfs::statvfs(&self.dir) else { return Ok(()) };
        let free_mib = (disk.blocks_available() * disk.fragment_size()) >> 20;
        if free_mib >= self.min_free_mib {
            return Ok(());
        }
        Err(BlobError::Full { free_mib, needed_mib: self.min_free_mib })
    }
}

#[cfg(test)]
mod tests {
    use model::AgentId;

    use super::*;

    fn name() -> PackageName {
        PackageName { agent: AgentId::new(3), epoch: 9, seq: 1 }
    }

    #[tokio::test]
    async fn a_blob_is_read_as_it_was_written() {
        let dir = tempfile::tempdir().unwrap();
        let blobs = BlobStore::open(&dir.path().join("packages"), 0).unwrap();
        let key = BlobStore::key(&name(), "abc");
        blobs.put(&key, Bytes::from_static(b"body")).await.unwrap();
        blobs.put(&key, Bytes::from_static(b"body")).await.unwrap();
        assert_eq!(blobs.get(&key).await.unwrap(), "body");
        assert!(blobs.get("agt_1/1/1-x.ncpk").await.unwrap_err().is_missing());
    }

    #[tokio::test]
    async fn a_full_disk_is_reported_before_anything_is_written() {
        let dir = tempfile::tempdir().unwrap();
        let blobs = BlobStore::open(dir.path(), u64::MAX >> 20).unwrap();
        let error = blobs.put("k", Bytes::from_static(b"body")).await.unwrap_err();
        assert!(error.is_full(), "{error}");
        assert!(blobs.get("k").await.unwrap_err().is_missing());
    }
}
