//! State of the coordinator at the time of a scrape: what waits, what is in use, and what is free.
//!
//! Nothing here reads a whole growing table. The state is computed at most once in [`LIFETIME`],
//! however many servers scrape.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use model::UnixMillis;
use store::backlog::{self, Backlog};
use store::generations;
use store::overview::{self, Agents};
use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::http::metrics::readings::Readings;
use crate::packages::index_gaps::IndexGaps;
use crate::registry::refresh;
use crate::runtime::failure::chain;
use crate::runtime::free_space::free_bytes;
use crate::runtime::lost_database::unless_lost;
use crate::tasks::coordinator::Coordinator;

/// How long a state is used. Prometheus usually scrapes every 15 seconds.
const LIFETIME: Duration = Duration::from_secs(5);

/// How long a scrape waits for the database. Prometheus gives a scrape up after 10 seconds by
/// default, and must have heard by then that the database is down.
const PATIENCE: Duration = Duration::from_secs(4);

/// The last state, and what is being read for the next one.
#[derive(Default)]
pub(super) struct StateCache {
    last: Mutex<Option<(Instant, Arc<CoordinatorState>)>>,
    index_gaps: Readings,
    stored: Readings,
}

impl StateCache {
    /// The state, at most [`LIFETIME`] old.
    pub(super) async fn read(&self, coordinator: &Arc<Coordinator>) -> Arc<CoordinatorState> {
        let mut last = self.last.lock().await;
        if let Some((_, state)) = last.as_ref().filter(|(at, _)| at.elapsed() < LIFETIME) {
            return Arc::clone(state);
        }
        let (index_gaps, stored) = self.read_database(coordinator).await;
        let state = Arc::new(CoordinatorState::read(coordinator, index_gaps, stored).await);
        *last = Some((Instant::now(), Arc::clone(&state)));
        state
    }

    /// What the database knows, as far as it answers within [`PATIENCE`]. A commit of the index
    /// delays the first part, too, and says nothing about the database.
    async fn read_database(
        &self,
        coordinator: &Arc<Coordinator>,
    ) -> (Option<IndexGaps>, Option<StoredState>) {
        let packages = Arc::clone(&coordinator.packages);
        let index_gaps = Box::pin(async move {
            let read = unless_lost(&packages.store, IndexGaps::read(&packages)).await;
            read.ok()?.ok()
        });
        let reader = Arc::clone(coordinator);
        let stored =
            Box::pin(
                async move { unless_lost(&reader.store, stored(&reader)).await.ok().flatten() },
            );
        tokio::join!(self.index_gaps.read(PATIENCE, index_gaps), self.stored.read(PATIENCE, stored))
    }
}

/// What the coordinator is like at one moment. What cannot be read is none.
pub(super) struct CoordinatorState {
    pub(super) at: UnixMillis,
    pub(super) started_at: UnixMillis,
    pub(super) is_leader: bool,
    pub(super) rss_bytes: Option<u64>,
    pub(super) disk_free_bytes: Option<u64>,
    pub(super) index_documents: u64,
    /// Silent hosts that searches leave out, and the most of them.
    pub(super) silent_hosts: (usize, u32),
    /// None where the database or the index does not answer in time.
    pub(super) index_gaps: Option<IndexGaps>,
    pub(super) index_bytes: Option<u64>,
    pub(super) hierarchy: Option<HierarchyState>,
    /// Open and idle connections to the database.
    pub(super) connections: (u32, usize),
    pub(super) audit_findings: Option<usize>,
    /// What only the database knows; none where it does not answer in time.
    pub(super) stored: Option<StoredState>,
}

pub(super) struct HierarchyState {
    pub(super) generation: i64,
    pub(super) subnets: usize,
    pub(super) delegated: usize,
}

pub(super) struct StoredState {
    pub(super) agents: Agents,
    pub(super) backlog: Backlog,
    /// How long ago the registries' data should have been replaced by newer.
    pub(super) registry_overdue_ms: u64,
}

impl CoordinatorState {
    async fn read(
        coordinator: &Coordinator,
        index_gaps: Option<IndexGaps>,
        stored: Option<StoredState>,
    ) -> Self {
        let data_dir = coordinator.config.data_dir.clone();
        let index_dir = data_dir.join("index");
        let index_bytes = tokio::task::spawn_blocking(move || directory_bytes(&index_dir)).await;
        let index_documents = coordinator.packages.count_pages().await;
        let last_audit = coordinator.placement.last_audit.load();
        let audit_findings = last_audit.as_ref().map(|report| report.findings.len());
        let hierarchy = coordinator.delegated().map(|delegated| HierarchyState {
            generation: delegated.hierarchy().generation().get(),
            subnets: delegated.hierarchy().len(),
            delegated: delegated.delegation_table().len(),
        });
        Self {
            at: coordinator.now(),
            started_at: coordinator.started_at,
            is_leader: coordinator.is_leader(),
            rss_bytes: rss_bytes(),
            disk_free_bytes: free_bytes(&data_dir).ok(),
            index_documents,
            silent_hosts: (coordinator.silent_hosts.count(), coordinator.silent_hosts.limit()),
            index_gaps,
            index_bytes: index_bytes.ok().and_then(Result::ok),
            hierarchy,
            connections: coordinator.store.connections(),
            audit_findings,
            stored,
        }
    }
}

async fn stored(coordinator: &Coordinator) -> Option<StoredState> {
    let now = coordinator.now();
    let store = &coordinator.store;
    let read = tokio::try_join!(
        overview::count_agents(store, coordinator.heartbeat_cutoff(), now),
        backlog::count(store, now),
        generations::live(store),
    );
    match read {
        Ok((agents, backlog, live)) => {
            let days = coordinator.config.registries.refresh_days;
            let overdue = live.map(|live| refresh::overdue_ms(live.read_at, days, now));
            let registry_overdue_ms = overdue.unwrap_or(0);
            Some(StoredState { agents, backlog, registry_overdue_ms })
        }
        Err(error) => {
            tracing::warn!(error = chain(&error), "the metrics lack what the database knows");
            None
        }
    }
}

/// Resident memory of this process, from procfs.
pub fn rss_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1_024)
}

/// Sum of the sizes of the files in a directory. The index has a few dozen.
fn directory_bytes(dir: &Path) -> std::io::Result<u64> {
    let mut bytes = 0;
    for entry in std::fs::read_dir(dir)? {
        // A file may vanish while the index merges its segments.
        bytes += entry?.metadata().map_or(0, |file| file.len());
    }
    Ok(bytes)
}
