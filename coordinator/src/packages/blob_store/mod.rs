//! Blob store: the bytes of packages and host bundles, as received, in a local directory or in S3.
//!
//! The blob is written before its row in `packages`. A blob without a row is one that its agent
//! sends again. The key contains the hash of the content, so that another package with a used
//! number never overwrites an acknowledged one.

mod error;

use std::collections::BTreeMap;
use std::future::ready;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::{Stream, TryStreamExt as _};
use model::{AgentId, UnixMillis};
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::local::LocalFileSystem;
use object_store::prefix::PrefixStore;
use object_store::{
    ClientOptions, ObjectMeta, ObjectStore, ObjectStoreExt as _, PutMode, PutOptions, RetryConfig,
};
use protocol::package::PackageName;

use crate::runtime::free_space::{FreeSpace, MIN_FREE_FILES};
pub use error::BlobError;

/// Key of the object that contains the identifier of the storage.
const IDENTIFIER: &str = "nearcrawl-storage";
/// Extension of the keys of packages.
const PACKAGE: &str = "ncpk";
/// Packages of one folder.
const FOLDER: u64 = 10_000;
/// Extension of the keys of host bundles.
const BUNDLE: &str = "nchb";
/// Folder of an agent's host bundles.
const BUNDLES: &str = "bundles";
/// How long one request to S3 may take. An agent waits for the answer to its upload meanwhile.
const S3_TIMEOUT: Duration = Duration::from_secs(20);
/// How often a request is repeated when the server is busy or away, within a second. Agents and
/// background tasks try again by themselves.
const S3_RETRIES: usize = 3;

/// Bodies of packages and bundles by key; cheap to clone.
#[derive(Debug, Clone)]
pub struct BlobStore {
    objects: Arc<dyn ObjectStore>,
    place: String,
    disk: PathBuf,
    min_free_mib: u64,
}

impl BlobStore {
    /// Opens or creates a directory. Writes are refused while its disk has less than `min_free_mib`
    /// free.
    pub fn local(dir: &Path, min_free_mib: u64) -> Result<Self, BlobError> {
        let place = format!("the local directory {}", dir.display());
        let failed = |source: Box<dyn std::error::Error + Send + Sync>| BlobError::Open {
            place: place.clone(),
            source,
        };
        std::fs::create_dir_all(dir).map_err(|e| failed(e.into()))?;
        let local =
            LocalFileSystem::new_with_prefix(dir).map_err(|e| failed(e.into()))?.with_fsync(true);
        Ok(Self { objects: Arc::new(local), place, disk: dir.to_owned(), min_free_mib })
    }

    /// Opens a bucket of S3. Endpoint, region and credentials come from `options`, and else from
    /// the variables `AWS_*` of the environment. Index and database are on `disk`: writes are
    /// refused while that has less than `min_free_mib` free.
    pub fn s3(
        (bucket, prefix): (&str, &str),
        options: &BTreeMap<String, String>,
        disk: &Path,
        min_free_mib: u64,
    ) -> Result<Self, BlobError> {
        let place = format!("s3://{bucket}/{prefix}").trim_end_matches('/').to_owned();
        let retry = RetryConfig { max_retries: S3_RETRIES, ..RetryConfig::default() };
        let client = ClientOptions::new().with_timeout(S3_TIMEOUT).with_allow_http(true);
        let mut builder = AmazonS3Builder::from_env().with_client_options(client).with_retry(retry);
        for (name, value) in options {
            let key: AmazonS3ConfigKey =
                name.parse().map_err(|_| BlobError::UnknownOption { key: name.clone() })?;
            builder = builder.with_config(key, value);
        }
        // Nothing is opened yet, so only the options can be wrong.
        let s3 = builder
            .with_bucket_name(bucket)
            .build()
            .map_err(|source| BlobError::Options { place: place.clone(), source })?;
        let objects: Arc<dyn ObjectStore> =
            if prefix.is_empty() { Arc::new(s3) } else { Arc::new(PrefixStore::new(s3, prefix)) };
        Ok(Self { objects, place, disk: disk.to_owned(), min_free_mib })
    }

    /// Where the blobs are, for messages.
    pub fn place(&self) -> &str {
        &self.place
    }

    /// The identifier of this storage; none when it has not been used yet. Writes nothing.
    pub async fn recorded_identifier(&self) -> Result<Option<String>, BlobError> {
        match self.get(IDENTIFIER).await {
            Err(error) if error.is_missing() => Ok(None),
            found => Ok(Some(String::from_utf8_lossy(&found?).trim().to_owned())),
        }
    }

    /// Fails if there is no such bucket or directory: a read of a blob calls that missing, too.
    pub async fn check_place(&self) -> Result<(), BlobError> {
        self.objects.list_with_delimiter(None).await.map(drop).map_err(self.unlisted())
    }

    /// The error of a listing.
    fn unlisted(&self) -> impl Fn(object_store::Error) -> BlobError + use<> {
        let place = self.place.clone();
        move |source| BlobError::Open { place: place.clone(), source: source.into() }
    }

    /// The identifier of this storage; `proposal` becomes it when there is none yet.
    pub async fn identifier(&self, proposal: &str) -> Result<String, BlobError> {
        if let Some(recorded) = self.recorded_identifier().await? {
            return Ok(recorded);
        }
        let options = PutOptions { mode: PutMode::Create, ..PutOptions::default() };
        let body = Bytes::from(proposal.to_owned());
        match self.objects.put_opts(&IDENTIFIER.into(), body.clone().into(), options).await {
            Ok(_) | Err(object_store::Error::AlreadyExists { .. }) => {}
            // Some servers know no conditional requests. Then only coordinators that are started
            // for the first time in the same moment can disagree, and all but one are refused.
            Err(object_store::Error::NotImplemented { .. }) => self.write(IDENTIFIER, body).await?,
            Err(source) => return Err(BlobError::Write { key: IDENTIFIER.to_owned(), source }),
        }
        Ok(String::from_utf8_lossy(&self.get(IDENTIFIER).await?).trim().to_owned())
    }

    /// Whether the storage answers: fails if it does not have its identifier.
    pub async fn check(&self) -> Result<(), BlobError> {
        self.get(IDENTIFIER).await.map(drop)
    }

    /// The key of a package whose SHA-256 is `sha256` in hexadecimal. Numbers share a folder up to
    /// [`FOLDER`], because file systems do not take millions of files into one.
    pub fn key(name: &PackageName, sha256: &str) -> String {
        let PackageName { agent, epoch, seq } = name;
        format!("{agent}/{epoch}/{}/{seq}-{sha256}.{PACKAGE}", seq / FOLDER)
    }

    /// The key of a host bundle whose SHA-256 is `sha256` in hexadecimal.
    pub fn bundle_key(agent: AgentId, order: u64, sha256: &str) -> String {
        format!("{agent}/{BUNDLES}/{order}-{sha256}.{BUNDLE}")
    }

    /// Stores a blob; it is durable when this returns.
    pub async fn put(&self, key: &str, body: Bytes) -> Result<(), BlobError> {
        self.check_free_space()?;
        self.write(key, body).await
    }

    async fn write(&self, key: &str, body: Bytes) -> Result<(), BlobError> {
        let put = self.objects.put(&key.into(), body.into()).await;
        put.map(drop).map_err(|source| BlobError::Write { key: key.to_owned(), source })
    }

    /// Reads a blob.
    pub async fn get(&self, key: &str) -> Result<Bytes, BlobError> {
        let failed = |source| BlobError::Read { key: key.to_owned(), source };
        self.objects.get(&key.into()).await.map_err(failed)?.bytes().await.map_err(failed)
    }

    /// The packages in the storage, in no order.
    pub fn packages(&self) -> impl Stream<Item = Result<StoredPackage, BlobError>> + Unpin + use<> {
        let listed = self.objects.list(None).map_err(self.unlisted());
        listed.try_filter_map(|object| ready(Ok(StoredPackage::of(&object))))
    }

    /// Orders and keys of the host bundles that were stored before a moment.
    pub async fn bundles(&self, before: UnixMillis) -> Result<(Vec<u64>, Vec<String>), BlobError> {
        let unlisted = self.unlisted();
        let agents = self.objects.list_with_delimiter(None).await.map_err(&unlisted)?;
        let mut orders = Vec::new();
        let mut keys = Vec::new();
        for agent in agents.common_prefixes {
            let mut listed = self.objects.list(Some(&agent.join(BUNDLES)));
            while let Some(object) = listed.try_next().await.map_err(&unlisted)? {
                let order = object.location.filename().and_then(|name| name.split_once('-'));
                if object.last_modified.timestamp_millis() < before.0
                    && let Some(order) = order.and_then(|(order, _)| order.parse().ok())
                {
                    orders.push(order);
                    keys.push(object.location.into());
                }
            }
        }
        Ok((orders, keys))
    }

    /// Deletes blobs that no row names any more. What cannot be deleted stays in the storage and
    /// costs space only: packages for good, bundles until the next sweep.
    pub async fn delete_all(&self, keys: &[String]) {
        for key in keys {
            match self.objects.delete(&key.as_str().into()).await {
                Ok(()) | Err(object_store::Error::NotFound { .. }) => {}
                Err(error) => tracing::warn!(%error, key, "a blob cannot be deleted"),
            }
        }
    }

    /// Whether writes are refused because the disk is nearly full.
    pub fn is_full(&self) -> bool {
        self.check_free_space().is_err()
    }

    /// Fails if writes are refused because the disk is nearly full.
    pub fn check_free_space(&self) -> Result<(), BlobError> {
        // If the free space is unknown, the write itself fails when the disk is full.
        let Ok(free) = FreeSpace::at(&self.disk) else { return Ok(()) };
        let free_mib = free.bytes >> 20;
        if free_mib < self.min_free_mib {
            return Err(BlobError::Full { free_mib, needed_mib: self.min_free_mib });
        }
        match free.files {
            Some(files) if files < MIN_FREE_FILES => Err(BlobError::FullOfFiles { free: files }),
            _ => Ok(()),
        }
    }
}

/// A package in the storage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredPackage {
    /// Key of the blob.
    pub key: String,
    /// Name of the package, by its key.
    pub name: PackageName,
    /// When it was stored.
    pub stored_at: UnixMillis,
}

impl StoredPackage {
    /// None where the object is no package.
    fn of(object: &ObjectMeta) -> Option<Self> {
        let key = object.location.as_ref();
        let rest = key.strip_suffix(PACKAGE)?.strip_suffix('.')?;
        let (agent, rest) = rest.split_once('/')?;
        let (epoch, rest) = rest.split_once('/')?;
        let (_folder, rest) = rest.split_once('/')?;
        let (seq, _sha256) = rest.split_once('-')?;
        let name = PackageName {
            agent: agent.parse().ok()?,
            epoch: epoch.parse().ok()?,
            seq: seq.parse().ok()?,
        };
        let stored_at = UnixMillis(object.last_modified.timestamp_millis());
        Some(Self { key: key.to_owned(), name, stored_at })
    }
}

/// Whether the last part of a key is that of something that this store writes.
pub fn is_blob_name(name: &str) -> bool {
    let extension = Path::new(name).extension().and_then(|extension| extension.to_str());
    name == IDENTIFIER || matches!(extension, Some(PACKAGE | BUNDLE))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name() -> PackageName {
        PackageName { agent: AgentId::new(3), epoch: 9, seq: 1 }
    }

    #[tokio::test]
    async fn a_blob_is_read_as_it_was_written() {
        let dir = tempfile::tempdir().unwrap();
        let blobs = BlobStore::local(&dir.path().join("packages"), 0).unwrap();
        let key = BlobStore::key(&name(), "abc");
        blobs.put(&key, Bytes::from_static(b"body")).await.unwrap();
        blobs.put(&key, Bytes::from_static(b"body")).await.unwrap();
        assert_eq!(blobs.get(&key).await.unwrap(), "body");
        assert!(blobs.get("agt_1/1/1-x.ncpk").await.unwrap_err().is_missing());
    }

    #[tokio::test]
    async fn packages_are_listed_by_the_names_of_their_keys() {
        let dir = tempfile::tempdir().unwrap();
        let blobs = BlobStore::local(dir.path(), 0).unwrap();
        let names =
            [1, FOLDER - 1, FOLDER, 5 * FOLDER + 7].map(|seq| PackageName { seq, ..name() });
        for name in &names {
            blobs.put(&BlobStore::key(name, "abc"), Bytes::from_static(b"body")).await.unwrap();
        }
        blobs.put(&BlobStore::bundle_key(name().agent, 1, "abc"), Bytes::new()).await.unwrap();
        let stored = blobs.packages().map_ok(|package| package.name);
        let mut listed: Vec<PackageName> = stored.try_collect().await.unwrap();
        listed.sort_unstable_by_key(|name| name.seq);
        assert_eq!(listed, names);
        let folders = dir.path().join(name().agent.to_string()).join("9");
        assert_eq!(std::fs::read_dir(folders).unwrap().count(), 3);
    }

    #[tokio::test]
    async fn the_first_identifier_stays() {
        let dir = tempfile::tempdir().unwrap();
        let open = || BlobStore::local(dir.path(), 0).unwrap();
        assert_eq!(open().identifier("one").await.unwrap(), "one");
        assert_eq!(open().identifier("two").await.unwrap(), "one");
    }

    #[tokio::test]
    async fn a_full_disk_is_reported_before_anything_is_written() {
        let dir = tempfile::tempdir().unwrap();
        let blobs = BlobStore::local(dir.path(), u64::MAX >> 20).unwrap();
        let error = blobs.put("k", Bytes::from_static(b"body")).await.unwrap_err();
        assert!(error.is_full(), "{error}");
        assert!(blobs.get("k").await.unwrap_err().is_missing());
    }
}
