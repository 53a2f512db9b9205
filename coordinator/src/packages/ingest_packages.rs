//! Background task: ingests packages, each exactly once.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use index::WriteError;
use model::LedgerPosition;
use protocol::key::{KeyError, PublicKey};
use protocol::package::{PackageError, PackageName};
use protocol::page::Entry;
use sha2::{Digest as _, Sha256};
use store::packages::{self, FailedPackage, Ingestion, PendingPackage};
use store::round_trips::SubnetRoundTrip;
use store::{StoreError, hosts};
use tokio::task::{JoinError, spawn_blocking};

use crate::intake::quota;
use crate::packages::blob_store::BlobError;
use crate::packages::ingest::{self, HostName};
use crate::packages::{Packages, verify};
use crate::predictor::{Observation, propose_splits};
use crate::runtime::back_off::doubled;
use crate::runtime::events::Event;
use crate::runtime::failure::chain;
use crate::runtime::outcome::Outcome;
use crate::runtime::quantity::quantity;

/// Packages between two commits of the index.
const BATCH: u32 = 16;
/// Pause before a package that failed is tried again; it doubles with each failure.
const FIRST_RETRY: Duration = Duration::from_secs(15);
/// Longest such pause.
const LAST_RETRY: Duration = Duration::from_hours(1);

/// Why a package was not ingested.
#[derive(Debug, thiserror::Error)]
pub enum IngestError {
    /// The blob store has no body, although the package was acknowledged.
    #[error("its body is missing")]
    BodyMissing,
    /// The body does not have the hash of the acknowledged one.
    #[error("its body was changed after it was received")]
    BodyChanged,
    /// The agent's key in the database is not a key.
    #[error(transparent)]
    Key(KeyError),
    /// The body does not verify any more.
    #[error(transparent)]
    Package(PackageError),
    /// The body could not be read now.
    #[error(transparent)]
    Blob(BlobError),
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
            Self::BodyMissing | Self::BodyChanged | Self::Key(_) | Self::Package(_) => true,
            Self::Store(error) => !error.is_transient() && !error.is_disk_full(),
            Self::Thread(error) => error.is_panic(),
            Self::Blob(_) | Self::Write(_) => false,
        }
    }
}

/// Ingests one batch of packages. Pages are written to the index by URL and committed; then one
/// transaction for each package marks it, counts it and queues its links. After a crash between
/// the two, the pages are written again, which changes nothing. A package that fails is set aside
/// and tried again later; the others go on.
pub async fn run(parts: &Packages) -> Result<Outcome, anyhow::Error> {
    let waiting = packages::pending(&parts.store, parts.clock.now(), BATCH).await?;
    if waiting.is_empty() {
        return Ok(Outcome::Idle);
    }
    let mut indexed = Vec::with_capacity(waiting.len());
    let mut failed = Vec::new();
    for package in &waiting {
        match ingest_one(parts, package).await {
            Ok(ingestion) => indexed.push((package, ingestion)),
            Err(error) if error.concerns_package() => failed.push((package, error)),
            Err(error) => return Err(error.into()),
        }
    }
    commit(parts).await?;
    for (package, ingestion) in &indexed {
        match apply(parts, ingestion).await {
            Ok(()) => {}
            Err(error) if error.concerns_package() => failed.push((package, error)),
            Err(error) => return Err(error.into()),
        }
    }
    for (package, error) in &failed {
        set_aside(parts, package, error).await?;
    }
    let ingested = waiting.len() - failed.len();
    parts.metrics.ingested(ingested as u64);
    parts.events.emit(Event::PackageIngested);
    let done = report(parts, ingested).await?;
    Ok(if waiting.len() == BATCH as usize { Outcome::More(done) } else { Outcome::Done(done) })
}

/// Applies to the database what a package brings.
async fn apply(parts: &Packages, ingestion: &Ingestion) -> Result<(), IngestError> {
    let now = parts.clock.now();
    let ingestion = quota::apply(&parts.store, ingestion.clone(), now).await?;
    // `None` if the package was ingested before: its second transaction must not count.
    let round_trips = packages::ingest(&parts.store, &ingestion, now).await?;
    Ok(learn(parts, &round_trips.unwrap_or_default()).await?)
}

/// The batch in one line for the status page, with a package that waits after a failure.
async fn report(parts: &Packages, ingested: usize) -> Result<String, StoreError> {
    let done = format!("ingested {}", quantity(ingested, "package"));
    let newest = LedgerPosition::new(i64::MAX);
    let failed = packages::list_failed(&parts.store, newest, 1).await?;
    let Some(FailedPackage { position, agent, failure, .. }) = failed.first() else {
        return Ok(done);
    };
    let count = quantity(packages::count_failed(&parts.store).await?, "package");
    Ok(format!("{done}; {count} set aside, such as {position} of {agent}: {failure}"))
}

/// Makes the pages written so far durable and visible to searches.
pub async fn commit(parts: &Packages) -> Result<(), IngestError> {
    let index = Arc::clone(&parts.index);
    Ok(spawn_blocking(move || index.commit()).await??)
}

/// Teaches the predictor the round trips of fetches: where a subnet is that no probe measured, and
/// which subnets are in several places.
async fn learn(parts: &Packages, round_trips: &[SubnetRoundTrip]) -> Result<(), StoreError> {
    let Some(delegated) = parts.hierarchy.current() else { return Ok(()) };
    let hierarchy = delegated.hierarchy();
    for new in round_trips.iter().filter(|found| found.is_new) {
        let observation = Observation::from_fetch(hierarchy, &new.shortest);
        parts.predictor.state.learn(hierarchy, &observation);
    }
    let confirmed = round_trips.iter().filter(|found| found.is_confirmed);
    let confirmed: Vec<_> = confirmed.map(|found| found.subnet).collect();
    propose_splits(&parts.predictor, &confirmed).await
}

/// Sets a package aside that cannot be ingested now, so that it does not block the others.
async fn set_aside(
    parts: &Packages,
    package: &PendingPackage,
    error: &IngestError,
) -> Result<(), StoreError> {
    let now = parts.clock.now();
    let pause = doubled(FIRST_RETRY, package.failures, LAST_RETRY);
    let retry_at = now.plus_ms(i64::try_from(pause.as_millis()).unwrap_or(i64::MAX));
    let PackageName { agent, epoch, seq } = package.name;
    let position = package.position;
    let error = chain(error);
    tracing::error!(%position, %agent, epoch, seq, error, ?pause, "a package was set aside");
    packages::fail(&parts.store, position, &error, now, retry_at).await?;
    parts.metrics.set_aside();
    Ok(())
}

/// Writes the pages of one package to the index, without a commit.
pub async fn ingest_one(
    parts: &Packages,
    package: &PendingPackage,
) -> Result<Ingestion, IngestError> {
    let entries = entries(parts, package).await?;
    let named: Vec<HostName> = ingest::hosts(&entries).into_iter().collect();
    let agent = package.name.agent;
    // The hosts that the agent had when the package arrived; some may have moved since.
    let own = hosts::of_agent(&parts.store, agent, package.received_at, &named).await?;
    let own: BTreeSet<HostName> = own.into_iter().collect();
    let index = Arc::clone(&parts.index);
    let recent_urls = Arc::clone(&parts.recent_urls);
    let package = package.clone();
    let ingest = move || ingest::ingest(&package, &entries, &own, &index, &recent_urls);
    Ok(spawn_blocking(ingest).await??)
}

/// Reads a package back from the blob store and verifies it again.
async fn entries(parts: &Packages, package: &PendingPackage) -> Result<Vec<Entry>, IngestError> {
    let body = match parts.blobs.get(&package.object).await {
        Ok(body) => body,
        Err(error) if error.is_missing() => return Err(IngestError::BodyMissing),
        Err(error) => return Err(IngestError::Blob(error)),
    };
    let sha256 = package.sha256.clone();
    let key = package.key.clone();
    let read = move || {
        if Sha256::digest(&body).as_slice() != sha256 {
            return Err(IngestError::BodyChanged);
        }
        let key = PublicKey::from_bytes(&key).map_err(IngestError::Key)?;
        verify::read(&body, &key).map_err(IngestError::Package)
    };
    spawn_blocking(read).await?
}
