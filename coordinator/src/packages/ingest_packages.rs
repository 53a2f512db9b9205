//! Background task: takes the packages of the ledger.
//!
//! Every coordinator keeps an index of all pages, so each reads every package. What a package
//! brings to the database is applied once, by the leader.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::StreamExt as _;
use model::LedgerPosition;
use protocol::key::PublicKey;
use protocol::package::PackageName;
use sha2::{Digest as _, Sha256};
use store::StoreError;
use store::packages::{self, FailedPackage, Ingestion, Ledger};
use store::{generations, page_removals};
use tokio::task::spawn_blocking;

use crate::intake::quota;
use crate::packages::cursor::LedgerCursor;
use crate::packages::index_gaps::IndexGaps;
use crate::packages::ingest_error::IngestError;
use crate::packages::work::{self, FoundWork, Work};
use crate::packages::{Packages, ingest, retries, verify};
use crate::predictor::propose_splits;
use crate::runtime::events::Event;
use crate::runtime::failure::chain;
use crate::runtime::outcome::Outcome;
use crate::runtime::quantity::quantity;

/// Name of the task, also in hints to other coordinators.
pub const NAME: &str = "ingest_packages";
/// Bodies that are read from the storage at the same time.
const READ_AHEAD: usize = 4;

/// Takes one batch of packages.
pub async fn run(parts: &Packages, is_leader: bool) -> Result<Outcome, anyhow::Error> {
    // Without the hierarchy fetches have no country, and each is applied once.
    let applies = is_leader && has_hierarchy(parts).await?;
    let Some(done) = take_batch(parts, applies).await? else {
        if parts.blobs.is_full() {
            // While the storage is full no package is received, and no commit of one deletes unused
            // files.
            let index = Arc::clone(&parts.index);
            spawn_blocking(move || index.collect_garbage()).await?;
        }
        return Ok(Outcome::Idle);
    };
    let verb = if applies { "ingested" } else { "indexed" };
    let gaps = IndexGaps::read(parts).await?;
    let done = format!("{verb} {}{gaps}", quantity(done, "package"));
    Ok(Outcome::More(report(parts, done).await?))
}

/// Whether the hierarchy is in memory, or there is none yet.
async fn has_hierarchy(parts: &Packages) -> Result<bool, StoreError> {
    let is_loaded = parts.hierarchy.current().is_some();
    Ok(is_loaded || generations::live(&parts.store).await?.is_none())
}

/// Takes the next packages of the ledger, fairly between agents, and counts those that did not
/// fail; `None` when there are none.
///
/// Pages are written to the index by URL and committed with the cursor; then the leader applies the
/// changes of each package in one transaction. After a crash between the two, the next leader reads
/// the package again for its changes alone. A package that fails is set aside and tried again
/// later; the others go on.
pub async fn take_batch(parts: &Packages, applies: bool) -> Result<Option<usize>, IngestError> {
    let ledger = packages::ledger(&parts.store).await?;
    let mut cursor = LedgerCursor::of_index(&parts.index.progress(), &ledger);
    let removed = remove_pages(parts, &mut cursor, &ledger).await?;
    let FoundWork { packages: found, passed_over } = work::find(parts, &cursor, applies).await?;
    if found.is_empty() {
        return Ok(removed.then_some(0));
    }
    let count = found.len();
    let Batch { done, mut failed } = read_and_index(parts, found).await?;
    for position in passed_over {
        cursor.skip(position);
    }
    let indexed = done.iter().map(|(work, _)| work).filter(|work| work.to_index);
    indexed.for_each(|work| cursor.take(work.package.position));
    let skipped = failed.iter().map(|(work, _)| work).filter(|work| work.to_index);
    skipped.for_each(|work| cursor.skip(work.package.position));
    commit(parts, cursor.to_progress()).await?;
    apply_all(parts, &done, &mut failed).await?;
    set_aside(parts, &failed).await?;
    Ok(Some(count - failed.len()))
}

/// Carries out the removals of agents' pages that were ordered since the last commit of the index.
/// A package that is read after the ledger shows whether its pages are removed, and one that was
/// read before is in the index when the removal is carried out.
async fn remove_pages(
    parts: &Packages,
    cursor: &mut LedgerCursor,
    ledger: &Ledger,
) -> Result<bool, IngestError> {
    if cursor.removals() == ledger.removals {
        return Ok(false);
    }
    let agents = page_removals::after(&parts.store, cursor.removals()).await?;
    tracing::info!(?agents, "removing all pages of agents from the index");
    let index = Arc::clone(&parts.index);
    spawn_blocking(move || agents.into_iter().try_for_each(|agent| index.delete_agent(agent)))
        .await??;
    cursor.remove(ledger.removals);
    // Before pages are compared with the index, which has the removed ones until then.
    commit(parts, cursor.to_progress()).await?;
    Ok(true)
}

/// What became of the packages of a batch.
#[derive(Default)]
struct Batch {
    /// Packages whose pages are in the index.
    done: Vec<(Work, Ingestion)>,
    /// Packages that are set aside.
    failed: Vec<(Work, IngestError)>,
}

/// Reads the packages of a batch and writes their pages to the index, without a commit. An error if
/// others would fail as well, because index, database or storage is not available.
async fn read_and_index(parts: &Packages, found: Vec<Work>) -> Result<Batch, IngestError> {
    let mut batch = Batch::default();
    let reading = futures_util::stream::iter(found).map(|work| async move {
        let body = parts.blobs.get(&work.package.object).await;
        (work, body)
    });
    let mut bodies = reading.buffered(READ_AHEAD);
    while let Some((work, body)) = bodies.next().await {
        let ingested = match body {
            Ok(body) => ingest_one(parts, &work, body).await,
            Err(error) => {
                parts.blobs.check().await?;
                Err(error.into())
            }
        };
        match ingested {
            Ok(ingestion) => {
                parts.retries.succeeded(work.package.position);
                batch.done.push((work, ingestion));
            }
            Err(error) if error.concerns_package() => batch.failed.push((work, error)),
            Err(error) => return Err(error),
        }
    }
    Ok(batch)
}

/// Verifies and parses a package, and writes its pages to the index where it lacks them.
async fn ingest_one(parts: &Packages, work: &Work, body: Bytes) -> Result<Ingestion, IngestError> {
    let writes = work.to_index && !work.package.pages_are_removed;
    let index = writes.then(|| Arc::clone(&parts.index));
    let recent_urls = Arc::clone(&parts.recent_urls);
    let package = work.package.clone();
    let now = parts.clock.now();
    let ingest = move || {
        if Sha256::digest(&body).as_slice() != package.sha256 {
            return Err(IngestError::BodyChanged);
        }
        let key = PublicKey::from_bytes(&package.key).map_err(IngestError::Key)?;
        let entries = verify::read(&body, &key).map_err(IngestError::Package)?;
        Ok(ingest::ingest(&package, &entries, index.as_deref(), &recent_urls, now)?)
    };
    spawn_blocking(ingest).await?
}

/// Makes the pages written so far durable and visible to searches, together with the cursor.
async fn commit(parts: &Packages, progress: String) -> Result<(), IngestError> {
    let index = Arc::clone(&parts.index);
    Ok(spawn_blocking(move || index.commit(&progress)).await??)
}

/// Applies to the database what the packages bring that lack it there.
async fn apply_all(
    parts: &Packages,
    done: &[(Work, Ingestion)],
    failed: &mut Vec<(Work, IngestError)>,
) -> Result<(), IngestError> {
    let mut applied = 0;
    for (work, ingestion) in done.iter().filter(|(work, _)| work.to_apply) {
        match apply(parts, ingestion).await {
            Ok(()) => applied += 1,
            Err(error) if error.concerns_package() => failed.push((work.clone(), error)),
            Err(error) => return Err(error),
        }
    }
    if applied > 0 {
        parts.metrics.ingested(applied);
        parts.events.emit(Event::PackageIngested);
    }
    Ok(())
}

/// Applies to the database what a package brings.
async fn apply(parts: &Packages, ingestion: &Ingestion) -> Result<(), IngestError> {
    let now = parts.clock.now();
    let mut ingestion = quota::apply(&parts.store, ingestion.clone(), now).await?;
    locate(parts, &mut ingestion);
    // `None` if the package was applied before: its changes must not count twice.
    let round_trips = packages::ingest(&parts.store, &ingestion, now).await?;
    Ok(propose_splits(&parts.predictor, &round_trips.unwrap_or_default()).await?)
}

/// Names the countries of the hosts that were connected to.
fn locate(parts: &Packages, ingestion: &mut Ingestion) {
    let Some(delegated) = parts.hierarchy.current() else { return };
    let hierarchy = delegated.hierarchy();
    for host in &mut ingestion.hosts {
        let address = host.round_trip.map(|(address, _)| address);
        host.country = address.and_then(|address| hierarchy.country_at(address));
    }
}

/// Sets packages aside that failed, so that they do not block the others. The leader records them
/// in the ledger, where admins see them.
async fn set_aside(parts: &Packages, failed: &[(Work, IngestError)]) -> Result<(), StoreError> {
    let now = parts.clock.now();
    for (Work { package, to_index, to_apply }, error) in failed {
        let PackageName { agent, epoch, seq } = package.name;
        let position = package.position;
        let error = chain(error);
        tracing::error!(%position, %agent, epoch, seq, error, "a package was set aside");
        if *to_index {
            parts.retries.failed(position, now);
        }
        if *to_apply {
            let retry_at = retries::retry_at(package.failures + 1, now);
            packages::fail(&parts.store, position, &error, now, retry_at).await?;
        }
        parts.metrics.set_aside();
    }
    Ok(())
}

/// The batch in one line for the status page, with a package that waits after a failure.
async fn report(parts: &Packages, done: String) -> Result<String, StoreError> {
    let newest = LedgerPosition::new(i64::MAX);
    let failed = packages::list_failed(&parts.store, newest, 1).await?;
    let Some(FailedPackage { position, agent, failure, .. }) = failed.first() else {
        return Ok(done);
    };
    let count = quantity(packages::count_failed(&parts.store).await?, "package");
    Ok(format!("{done}; {count} set aside, such as {position} of {agent}: {failure}"))
}
