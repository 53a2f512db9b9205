//! Opens and closes the database: a private cluster, or a Postgres that is given by URL.

use std::time::Duration;

use cluster::{Cluster, ClusterError};
use store::{Address, SchemaChange, Store, StoreError};
use tokio::time::Instant;

use crate::runtime::config::Config;
use crate::runtime::failure::{Failure, chain};

/// Pause between two attempts to connect to a Postgres that is given by URL.
const RETRY_PAUSE: Duration = Duration::from_millis(500);
/// How long connections to the database may take to close.
const CLOSE_LIMIT: Duration = Duration::from_secs(1);

/// A database that is open, and the private server that it may need.
pub struct Database {
    /// The open database.
    pub store: Store,
    /// The private server; none when a URL was given.
    pub cluster: Option<Cluster>,
}

/// Opens the database: the one given by URL, else a private one in the data directory, which no
/// other process may own.
pub async fn open(config: &Config) -> Result<Database, Failure> {
    let cluster = match config.database_url {
        Some(_) => None,
        None => Some(Cluster::start(private(config)).await.map_err(cluster_failure)?),
    };
    connect(config, cluster).await
}

/// Like [`open`], for a command that may run beside the coordinator: joins its private server. A
/// data directory without one is mistyped, and a server that does not answer is not waited for.
/// `change` is what may be done to the schema.
pub async fn open_shared(config: &Config, change: SchemaChange) -> Result<Database, Failure> {
    let cluster = match config.database_url {
        Some(_) => None,
        None if !may_exist(config) => {
            return Err(Failure::configuration(format!(
                "no coordinator has run in {}; give its data directory with --data-dir, or its \
                 database with --database-url",
                config.data_dir.display()
            )));
        }
        None => Some(Cluster::start_or_join(private(config)).await.map_err(cluster_failure)?),
    };
    let address = address(config, cluster.as_ref())?;
    let connections = config.limits.database_connections;
    let opened = store::open_as(&address, connections, change).await;
    let store = opened.map_err(|error| database_failure(&error))?;
    Ok(Database { store, cluster })
}

/// Whether there may be a database: a given one, or a private one in the data directory.
pub(super) fn may_exist(config: &Config) -> bool {
    config.database_url.is_some() || cluster::exists(&config.data_dir)
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
    if tokio::time::timeout(CLOSE_LIMIT, database.store.close()).await.is_err() {
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

fn cluster_failure(error: ClusterError) -> Failure {
    let sentence = chain(&error);
    match error {
        error if error.is_unavailable() => Failure::unavailable(sentence),
        ClusterError::Prepare { .. }
        | ClusterError::NotPermitted { .. }
        | ClusterError::NotReachable { .. } => Failure::cannot_create(sentence),
        _ => Failure::other(sentence),
    }
}

/// Waits for a server that is starting. Errors that waiting cannot solve are returned at once.
async fn open_store(config: &Config, address: &Address) -> Result<Store, Failure> {
    let limits = &config.limits;
    let deadline = Instant::now() + Duration::from_secs(limits.database_wait_s.into());
    loop {
        match store::open_with(address, limits.database_connections).await {
            Ok(store) => return Ok(store),
            Err(error) if error.is_transient() && Instant::now() < deadline => {
                tracing::warn!(error = chain(&error), "waiting for the database");
                tokio::time::sleep(RETRY_PAUSE).await;
            }
            Err(error) => return Err(database_failure(&error)),
        }
    }
}

pub(super) fn database_failure(error: &StoreError) -> Failure {
    let sentence = chain(error);
    match error {
        StoreError::Connect { .. } => Failure::unavailable(format!(
            "{sentence}; start that server, or correct --database-url (DATABASE_URL)"
        )),
        StoreError::TooOld { .. } => Failure::unavailable(sentence),
        // None of them ends by a restart.
        StoreError::Url(_)
        | StoreError::NoSchema { .. }
        | StoreError::ForeignTables { .. }
        | StoreError::Older { .. }
        | StoreError::Newer { .. }
        | StoreError::Unreleased => Failure::configuration(sentence),
        _ => Failure::other(sentence),
    }
}
