//! Recovery: packages of the storage that the ledger lacks, because the database was restored from
//! an earlier backup. Their agents have forgotten them and report unchanged pages as such, so that
//! nothing else would bring their pages into the index.

use bytes::Bytes;
use data_encoding::HEXLOWER;
use futures_util::TryStreamExt as _;
use model::{HostKey, UnixMillis};
use protocol::key::PublicKey;
use protocol::package::PackageName;
use sha2::{Digest as _, Sha256};
use store::packages::{self, EnterOutcome, ReceivedPackage};
use store::{Store, StoreError, agents, hosts};
use tokio::task::{JoinError, spawn_blocking};

use crate::packages::blob_store::{BlobError, BlobStore, StoredPackage};
use crate::packages::verify::{self, VerifiedPackage};
use crate::runtime::failure::chain;

/// Packages that are looked up in the ledger at once.
const BATCH: usize = 1_000;

/// What became of the packages that the ledger lacked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Recovery {
    /// Packages that were entered into the ledger.
    pub entered: usize,
    /// Packages that could not be: their agents are not known or revoked, or they are damaged or
    /// cannot be read.
    pub left_out: usize,
}

/// Why the recovery ended early. What was entered stays, and it may be repeated.
#[derive(Debug, thiserror::Error)]
pub enum RecoveryError {
    #[error(transparent)]
    Storage(#[from] BlobError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the verification of a package panicked")]
    Verification(#[from] JoinError),
}

/// Enters the packages that the ledger lacks, in the order in which they were stored: of two
/// fetches of a page the later one counts.
pub async fn recover(
    store: &Store,
    blobs: &BlobStore,
    now: UnixMillis,
) -> Result<Recovery, RecoveryError> {
    let mut recovery = Recovery::default();
    for package in &missing(store, blobs).await? {
        if enter(store, blobs, package, now).await? {
            recovery.entered += 1;
        } else {
            recovery.left_out += 1;
        }
    }
    Ok(recovery)
}

/// The packages that the ledger lacks, in the order in which they were stored.
async fn missing(store: &Store, blobs: &BlobStore) -> Result<Vec<StoredPackage>, RecoveryError> {
    let mut missing = Vec::new();
    let mut batches = blobs.packages().try_chunks(BATCH).map_err(|failed| failed.1);
    while let Some(mut batch) = batches.try_next().await? {
        let names: Vec<PackageName> = batch.iter().map(|package| package.name).collect();
        let known = packages::known(store, &names).await?;
        batch.retain(|package| !known.contains(&package.name));
        missing.append(&mut batch);
    }
    missing.sort_by_key(|package| (package.stored_at, package.name));
    Ok(missing)
}

/// Enters a package; false where it cannot be.
async fn enter(
    store: &Store,
    blobs: &BlobStore,
    package: &StoredPackage,
    now: UnixMillis,
) -> Result<bool, RecoveryError> {
    let StoredPackage { key: object, name, .. } = package;
    let Some(agent) = agents::identity(store, name.agent).await? else { return Ok(false) };
    let Some(body) = readable(blobs, object).await? else { return Ok(false) };
    let sha256 = Sha256::digest(&body);
    let bytes = body.len() as u64;
    let verified = spawn_blocking(move || verified(&body, &agent.key)).await?;
    let Some(VerifiedPackage { header, hosts: named }) = verified else { return Ok(false) };
    if header.name != *name || *object != BlobStore::key(name, &HEXLOWER.encode(&sha256)) {
        return Ok(false);
    }
    // Which hosts the agent had is lost with the database. Hosts without an agent in the backup may
    // have been delegated since.
    let named: Vec<HostKey> = named.into_iter().collect();
    let foreign_hosts = hosts::of_others(store, name.agent, &named).await?;
    let received = ReceivedPackage {
        header: &header,
        sha256: &sha256,
        object,
        bytes,
        foreign_hosts: &foreign_hosts,
    };
    // Load and quotas count it on the day on which it was received.
    let received_at = package.stored_at.min(now);
    Ok(packages::enter(store, &received, received_at).await? == EnterOutcome::New)
}

/// Reads a package; none where this blob alone cannot be read, while the storage answers.
async fn readable(blobs: &BlobStore, object: &str) -> Result<Option<Bytes>, BlobError> {
    match blobs.get(object).await {
        Ok(body) => Ok(Some(body)),
        Err(error) if blobs.check().await.is_ok() => {
            tracing::warn!(error = chain(&error), "left a package out");
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

fn verified(body: &Bytes, key: &PublicKey) -> Option<VerifiedPackage> {
    verify::verify(body, key)
        .inspect_err(|error| tracing::warn!(error = chain(error), "left a package out"))
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_blob_that_cannot_be_read_is_left_out_while_the_storage_answers() {
        let dir = tempfile::tempdir().unwrap();
        let blobs = BlobStore::local(dir.path(), 0).unwrap();
        assert!(readable(&blobs, "1/1/1-00.ncpk").await.is_err(), "the storage has no identifier");
        blobs.identifier("this one").await.unwrap();
        assert_eq!(readable(&blobs, "1/1/1-00.ncpk").await.unwrap(), None);
        blobs.put("1/1/1-00.ncpk", Bytes::from_static(b"body")).await.unwrap();
        let body = readable(&blobs, "1/1/1-00.ncpk").await.unwrap();
        assert_eq!(body, Some(Bytes::from_static(b"body")));
    }
}
