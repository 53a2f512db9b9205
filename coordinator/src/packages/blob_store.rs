//! Where packages lie: their bytes, as they came, in object storage under the data directory.
//!
//! Body first, then the row in the ledger; a body without a row is one that its agent will send
//! again. The name of an object holds the hash of its content, so that a different package under a
//! used number never overwrites an acknowledged one.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use object_store::local::LocalFileSystem;
use object_store::{ObjectStore, ObjectStoreExt as _};
use protocol::package::PackageName;

/// What could not be done with a body.
#[derive(Debug, thiserror::Error)]
pub enum BlobError {
    /// The directory cannot be used.
    #[error("cannot use the package directory {path}")]
    Open {
        /// Which.
        path: PathBuf,
        /// Why.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The disk has less room than the coordinator keeps free.
    #[error("the coordinator's disk is full: {free_mib} MiB left, {needed_mib} MiB are kept free")]
    Full {
        /// What is left.
        free_mib: u64,
        /// What must be left.
        needed_mib: u64,
    },
    /// It could not be written or synced.
    #[error("cannot store the package {key}")]
    Write {
        /// Its name in object storage.
        key: String,
        /// Why.
        #[source]
        source: object_store::Error,
    },
    /// It could not be read back.
    #[error("cannot read the package {key}")]
    Read {
        /// Its name in object storage.
        key: String,
        /// Why.
        #[source]
        source: object_store::Error,
    },
}

impl BlobError {
    /// Whether making room on the disk is the remedy.
    pub fn is_full(&self) -> bool {
        match self {
            Self::Full { .. } => true,
            Self::Write { source, .. } => is_storage_full(source),
            Self::Open { .. } | Self::Read { .. } => false,
        }
    }

    /// Whether the object is not there at all.
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

/// The package store.
#[derive(Debug, Clone)]
pub struct BlobStore {
    objects: Arc<dyn ObjectStore>,
    dir: PathBuf,
    min_free_mib: u64,
}

impl BlobStore {
    /// In this directory, made when it is not there. Writes are refused when its disk has less than
    /// `min_free_mib` left.
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

    /// The name under which a package lies.
    pub fn key(name: &PackageName, sha256: &str) -> String {
        format!("{}/{}/{}-{sha256}.ncpk", name.agent, name.epoch, name.seq)
    }

    /// Stores a body; durable when this returns.
    pub async fn put(&self, key: &str, body: Bytes) -> Result<(), BlobError> {
        self.check_room()?;
        let put = self.objects.put(&key.into(), body.into()).await;
        put.map(drop).map_err(|source| BlobError::Write { key: key.to_owned(), source })
    }

    /// Reads a body back.
    pub async fn get(&self, key: &str) -> Result<Bytes, BlobError> {
        let failed = |source| BlobError::Read { key: key.to_owned(), source };
        self.objects.get(&key.into()).await.map_err(failed)?.bytes().await.map_err(failed)
    }

    fn check_room(&self) -> Result<(), BlobError> {
        // A disk that cannot be asked is found out by the write itself.
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
    async fn a_body_comes_back_as_it_went() {
        let dir = tempfile::tempdir().unwrap();
        let bodies = BlobStore::open(&dir.path().join("packages"), 0).unwrap();
        let key = BlobStore::key(&name(), "abc");
        bodies.put(&key, Bytes::from_static(b"body")).await.unwrap();
        bodies.put(&key, Bytes::from_static(b"body")).await.unwrap();
        assert_eq!(bodies.get(&key).await.unwrap(), "body");
        assert!(bodies.get("agt_1/1/1-x.ncpk").await.unwrap_err().is_missing());
    }

    #[tokio::test]
    async fn a_full_disk_is_said_before_anything_is_written() {
        let dir = tempfile::tempdir().unwrap();
        let bodies = BlobStore::open(dir.path(), u64::MAX >> 20).unwrap();
        let error = bodies.put("k", Bytes::from_static(b"body")).await.unwrap_err();
        assert!(error.is_full(), "{error}");
        assert!(bodies.get("k").await.unwrap_err().is_missing());
    }
}
