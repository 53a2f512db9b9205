//! The database that the flags name.

use std::path::PathBuf;

use anyhow::Context;
use cluster::{Cluster, Options};
use hierarchy::{Hierarchy, Registry};
use store::generations::{self, Facts};
use store::{Address, SchemaChange, Store, StoreError};

use crate::cli::CommonArgs;
use crate::failure::{Interrupted, NothingLoaded};
use crate::progress_bar::ProgressBars;

/// The database that the flags name, else the private one, which is started unless the coordinator
/// runs it already.
async fn open(
    args: &CommonArgs,
    bars: &ProgressBars,
) -> anyhow::Result<(Option<Cluster>, Address)> {
    if let Some(url) = &args.database_url {
        return Ok((None, Address::url(url)?));
    }
    let dir = data_dir(args)?;
    bars.print_line(&format!(
        "using the private Postgres in {} (no database URL was given)",
        dir.display()
    ));
    let cluster = Cluster::start_or_join(Options::new(dir)).await?;
    let address = Address::private(cluster.socket_dir());
    Ok((Some(cluster), address))
}

fn data_dir(args: &CommonArgs) -> anyhow::Result<PathBuf> {
    let dir = args.data_dir.clone().or_else(cluster::default_data_dir);
    dir.context(
        "no home directory to keep a database in: name one with --data-dir, or set DATABASE_URL",
    )
}

/// Runs `action` with a connection, closes it, and stops a private Postgres that was started for
/// it. Ctrl-C stops the action and rolls it back. The database may be empty. One of an older
/// version is an error, because coordinators of that version may run.
pub(crate) async fn with_store<T>(
    args: &CommonArgs,
    bars: &ProgressBars,
    action: impl AsyncFnOnce(Store) -> Result<T, StoreError>,
) -> anyhow::Result<T> {
    run(args, bars, SchemaChange::Create, action).await
}

async fn run<T>(
    args: &CommonArgs,
    bars: &ProgressBars,
    change: SchemaChange,
    action: impl AsyncFnOnce(Store) -> Result<T, StoreError>,
) -> anyhow::Result<T> {
    let (cluster, address) = open(args, bars).await?;
    let running = async {
        // One connection for the action, one for what the pool needs meanwhile.
        let store = store::open_as(&address, 2, change).await?;
        let result = action(store.clone()).await?;
        store.close().await;
        Ok(result)
    };
    let result = tokio::select! {
        result = running => result,
        _ = tokio::signal::ctrl_c() => Err(Interrupted.into()),
    };
    if let Some(cluster) = cluster {
        cluster.stop().await;
    }
    result
}

/// [`with_store`] for commands that need a loaded generation. A database is not created: the
/// directory or URL may be a typing error.
pub(crate) async fn query<T>(
    args: &CommonArgs,
    bars: &ProgressBars,
    action: impl AsyncFnOnce(Store) -> Result<Option<T>, StoreError>,
) -> anyhow::Result<Option<T>> {
    if args.database_url.is_none() && !cluster::exists(&data_dir(args)?) {
        return Ok(None);
    }
    match run(args, bars, SchemaChange::None, action).await {
        Err(error) if matches!(error.downcast_ref(), Some(StoreError::NoSchema { .. })) => Ok(None),
        result => result,
    }
}

pub(crate) fn current_generation(
    args: &CommonArgs,
    bars: &ProgressBars,
) -> anyhow::Result<(Facts, Hierarchy)> {
    let runtime = tokio::runtime::Runtime::new().context("cannot start the runtime")?;
    let read = async |store: Store| {
        let Some(facts) = generations::live(&store).await? else { return Ok(None) };
        let hierarchy = generations::read(&store, facts.id).await?;
        Ok(hierarchy.map(|hierarchy| (facts, hierarchy)))
    };
    runtime.block_on(query(args, bars, read))?.ok_or_else(|| NothingLoaded.into())
}

/// Names of the files of a registry in a generation.
pub(crate) fn source_of(facts: &Facts, registry: Option<Registry>) -> Option<String> {
    let registry = registry?.as_str();
    let files = facts.sources.iter().filter(|source| source.registry == registry);
    let names: Vec<&str> = files.map(|source| source.file.as_str()).collect();
    (!names.is_empty()).then(|| names.join(", "))
}
