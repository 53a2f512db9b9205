//! Packages: receives them, stores their bodies and ingests them into the search index.
//!
//! In the order in which data passes: [`upload_limits`], [`partial_uploads`] and [`verify`] before
//! a package enters the ledger; [`work`], [`fair_order`], [`cursor`] and [`retries`] choose the
//! next packages of the ledger; [`ingest_packages`] reads them from the [`blob_store`], and
//! [`ingest()`](ingest::ingest) splits them into pages for the index and changes for the database.
//! [`index_gaps`] says what the index lacks. The blob store also has the bundles of hosts that
//! change their agents; [`forget_bundles`] deletes those that no agent took, and [`sweep_bundles`]
//! those whose deletion failed. [`recall_pages`] queues the pages of hosts that lost their agents
//! with all their state. After a restore, [`recover()`](recover::recover) enters packages that the
//! database lacks.

pub mod blob_store;
pub mod cursor;
pub mod fair_order;
pub mod forget_bundles;
pub mod index_gaps;
pub mod ingest;
pub mod ingest_error;
pub mod ingest_packages;
pub mod metrics;
mod outcome_tally;
pub mod partial_uploads;
pub mod recall_pages;
pub mod recover;
pub mod retries;
pub mod sweep_bundles;
pub mod upload_limits;
pub mod verify;
pub mod work;

use std::sync::Arc;

use index::Index;
use store::Store;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

use crate::intake::recent_urls::RecentUrls;
use crate::packages::blob_store::BlobStore;
use crate::packages::fair_order::Turns;
use crate::packages::metrics::PackageMetrics;
use crate::packages::partial_uploads::PartialUploads;
use crate::packages::retries::Retries;
use crate::packages::upload_limits::UploadLimits;
use crate::predictor::Predictor;
use crate::runtime::clock::Clock;
use crate::runtime::delegated_hierarchy::CurrentHierarchy;
use crate::runtime::events::Events;

/// Packages verified at the same time.
const VERIFICATIONS: usize = 4;

/// The parts that the tasks of this stage use.
pub struct Packages {
    pub store: Store,
    /// Time of all rows.
    pub clock: Arc<dyn Clock>,
    /// Receives the events of this stage.
    pub events: Arc<Events>,
    /// Finds the subnets of fetches.
    pub hierarchy: Arc<CurrentHierarchy>,
    /// Learns from the round trips of fetches.
    pub predictor: Arc<Predictor>,
    /// Drops links that were routed lately.
    pub recent_urls: Arc<RecentUrls>,
    /// The search index. Its calls block.
    pub index: Arc<Index>,
    /// The packages as they were received.
    pub blobs: BlobStore,
    /// When packages are tried again that could not be indexed here.
    pub retries: Retries,
    /// Whose package was ingested last.
    pub turns: Turns,
    /// Bounds the packages that are being received.
    pub uploads: UploadLimits,
    /// The beginnings of packages whose upload broke.
    pub partial_uploads: Arc<PartialUploads>,
    /// Bounds the threads that verify packages.
    pub verifications: Arc<Semaphore>,
    /// Counts what is received and ingested.
    pub metrics: PackageMetrics,
}

impl Packages {
    /// Permits for packages that are being verified.
    pub fn verification_permits() -> Arc<Semaphore> {
        Arc::new(Semaphore::new(VERIFICATIONS))
    }

    /// Number of pages in the index. Removals, of which there may be millions, are counted for it.
    pub async fn count_pages(&self) -> u64 {
        let index = Arc::clone(&self.index);
        spawn_blocking(move || index.len()).await.unwrap_or(0)
    }
}
