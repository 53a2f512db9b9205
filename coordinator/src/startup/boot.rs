//! From a configuration to a coordinator that is ready to serve.
//!
//! In this order, so that whatever is missing is said soon: package directory and index (disk),
//! DNS, Postgres, secret, policy.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use arc_swap::ArcSwap;
use cluster::{Cluster, ClusterError};
use data_encoding::BASE64;
use index::Index;
use serde_json::Value;
use store::{Address, Store, StoreError, policy, settings};
use tokio::sync::Semaphore;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::http::agent::tokens::Tokens;
use crate::intake::dns::Dns;
use crate::intake::recent_urls::Recent;
use crate::packages::blob_store::Bodies;
use crate::placement::audit::LastAudit;
use crate::predictor::Insight;
use crate::registry::refresh::LastAttempt;
use crate::runtime::agent_wakeups::AgentWakeups;
use crate::runtime::clock::{Clock, SystemClock};
use crate::runtime::config::Config;
use crate::runtime::delegated_hierarchy::CurrentHierarchy;
use crate::runtime::events::Events;
use crate::runtime::failure::{Failure, chain};
use crate::runtime::state::Coordinator;
use crate::tasks::Statuses;

/// Fingerprints of routed URLs that are remembered, about 32 bytes each.
const RECENT: usize = 500_000;
/// Packages received at the same time, at most 16 MiB each.
const UPLOADS: usize = 16;
/// Packages checked at the same time.
const CHECKS: usize = 4;
/// Between two attempts to reach a Postgres that is given by URL.
const DATABASE_PAUSE: Duration = Duration::from_millis(500);

/// How long connections to the database may take to close.
const POOL: Duration = Duration::from_secs(1);

/// A database that is open, and the private server that it may need.
pub struct Database {
    /// The open database.
    pub store: Store,
    /// The private server; none when a URL was given.
    pub cluster: Option<Cluster>,
}

/// Opens the database: the one given by URL, else a private one in the data directory, which no
/// other process may own.
pub async fn database(config: &Config) -> Result<Database, Failure> {
    let cluster = match config.database_url {
        Some(_) => None,
        None => Some(Cluster::start(private(config)).await.map_err(no_cluster)?),
    };
    connect(config, cluster).await
}

/// Like [`database`], for a command that may run beside the coordinator: uses its private server.
pub async fn shared_database(config: &Config) -> Result<Database, Failure> {
    let cluster = match config.database_url {
        Some(_) => None,
        None => Some(Cluster::start_or_join(private(config)).await.map_err(no_cluster)?),
    };
    connect(config, cluster).await
}

fn private(config: &Config) -> cluster::Options {
    cluster::Options::new(&config.data_dir)
}

async fn connect(config: &Config, cluster: Option<Cluster>) -> Result<Database, Failure> {
    let address = address(config, cluster.as_ref())?;
    let store = open_store(config, &address).await?;
    Ok(Database { store, cluster })
}

/// Closes the database and stops the private server, if it is ours.
pub async fn close(database: Database) {
    if tokio::time::timeout(POOL, database.store.close()).await.is_err() {
        tracing::warn!("connections to the database were cut");
    }
    if let Some(cluster) = database.cluster {
        cluster.stop().await;
    }
}

fn address(config: &Config, cluster: Option<&Cluster>) -> Result<Address, Failure> {
    let private = cluster.map(|cluster| Address::private(cluster.socket_dir()));
    let url = config.database_url.as_deref().unwrap_or_default();
    private
        .map_or_else(|| Address::url(url), Ok)
        .map_err(|error| Failure::configuration(chain(&error)))
}

fn no_cluster(error: ClusterError) -> Failure {
    let sentence = chain(&error);
    match error {
        error if error.is_unavailable() => Failure::unavailable(sentence),
        ClusterError::Prepare { .. } | ClusterError::NotReachable { .. } => {
            Failure::cannot_create(sentence)
        }
        _ => Failure::other(sentence),
    }
}

/// Waits for a server that is starting; what waiting cannot mend is said at once.
async fn open_store(config: &Config, address: &Address) -> Result<Store, Failure> {
    let limits = &config.limits;
    let deadline = Instant::now() + Duration::from_secs(limits.database_wait_s.into());
    loop {
        match store::open_with(address, limits.database_connections).await {
            Ok(store) => return Ok(store),
            Err(error) if error.is_transient() && Instant::now() < deadline => {
                tracing::warn!(error = chain(&error), "waiting for the database");
                tokio::time::sleep(DATABASE_PAUSE).await;
            }
            Err(error) => return Err(no_database(&error)),
        }
    }
}

fn no_database(error: &StoreError) -> Failure {
    let sentence = chain(error);
    match error {
        StoreError::Connect { .. } => Failure::unavailable(format!(
            "{sentence}; start that server, or correct --database-url (DATABASE_URL)"
        )),
        StoreError::Url(_) => Failure::configuration(sentence),
        _ => Failure::other(sentence),
    }
}

/// Opens everything else and joins the parts.
pub async fn coordinator(
    config: Config,
    clock: Arc<dyn Clock>,
    store: Store,
    stop: CancellationToken,
) -> Result<Coordinator, Failure> {
    let bodies = bodies(&config)?;
    let index = open_index(&config.data_dir.join("index")).await?;
    let dns = Dns::new(config.resolver).map_err(Failure::configuration)?;
    let started_at = clock.now();
    let tokens = Tokens::new(secret(&store).await?, started_at);
    let policy = policy::read(&store).await.map_err(|error| no_database(&error))?;
    let peer_hints = Arc::default();
    Ok(Coordinator {
        clock,
        started_at,
        store,
        current_hierarchy: CurrentHierarchy::default(),
        insight: Insight::default(),
        policy: ArcSwap::from_pointee(policy),
        index: Arc::new(index),
        bodies,
        uploads: Semaphore::new(UPLOADS),
        checks: Semaphore::new(CHECKS),
        dns,
        tokens,
        recent: Arc::new(Recent::new(RECENT)),
        refreshed: LastAttempt::default(),
        cut: LastAttempt::default(),
        agent_wakeups: AgentWakeups::new(Arc::clone(&peer_hints)),
        peer_hints,
        events: Events::default(),
        leader: AtomicBool::new(false),
        audited: LastAudit::default(),
        statuses: Statuses::default(),
        stop,
        config,
    })
}

/// The machine's own clock, for [`coordinator`].
pub fn system_clock() -> Arc<dyn Clock> {
    Arc::new(SystemClock)
}

fn bodies(config: &Config) -> Result<Bodies, Failure> {
    let dir = config.data_dir.join("packages");
    let bodies = Bodies::open(&dir, config.limits.min_free_mib.into());
    bodies.map_err(|error| Failure::cannot_create(chain(&error)))
}

async fn open_index(dir: &Path) -> Result<Index, Failure> {
    let dir = dir.to_owned();
    let opening = tokio::task::spawn_blocking(move || Index::open(&dir)).await;
    let opened =
        opening.map_err(|error| Failure::other(format!("the index thread ended: {error}")))?;
    opened.map_err(|error| match error {
        index::OpenError::Directory { .. } => Failure::cannot_create(chain(&error)),
        other => Failure::other(chain(&other)),
    })
}

/// What nonces and sessions are signed with: made once per installation.
async fn secret(store: &Store) -> Result<[u8; 32], Failure> {
    let proposal = Value::String(BASE64.encode(&rand::random::<[u8; 32]>()));
    let kept = settings::get_or_set(store, "token_secret", &proposal)
        .await
        .map_err(|error| no_database(&error))?;
    let bytes = kept.as_str().and_then(|text| BASE64.decode(text.as_bytes()).ok());
    bytes.and_then(|bytes| bytes.try_into().ok()).ok_or_else(|| {
        Failure::other(
            "the setting token_secret in the database is not what nearcrawl writes there; delete that row",
        )
    })
}
