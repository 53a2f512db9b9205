//! The database that a command was told of.

use std::path::PathBuf;

use anyhow::Context;
use cluster::{Cluster, Options};
use hierarchy::Hierarchy;
use rir_loader::preview::InUse;
use store::generations::{self, Facts};
use store::{Address, Store, StoreError};

use crate::cli::DatabaseArgs;
use crate::failure::{Interrupted, NothingLoaded};
use crate::screen::Screen;

/// The database that was asked for, else the private one, which is started when the coordinator
/// does not run it already.
pub(crate) async fn database(
    args: &DatabaseArgs,
    screen: &Screen,
) -> anyhow::Result<(Option<Cluster>, Address)> {
    if let Some(url) = &args.database_url {
        return Ok((None, Address::url(url)?));
    }
    let dir = data_dir(args)?;
    screen.say(&format!(
        "using the private Postgres in {} (no database URL was given)",
        dir.display()
    ));
    let cluster = Cluster::start_or_join(Options::new(dir)).await?;
    let address = Address::private(cluster.socket_dir());
    Ok((Some(cluster), address))
}

fn data_dir(args: &DatabaseArgs) -> anyhow::Result<PathBuf> {
    let dir = args.data_dir.clone().or_else(cluster::default_data_dir);
    dir.context(
        "no home directory to keep a database in: name one with --data-dir, or set DATABASE_URL",
    )
}

/// The generation in use.
pub(crate) fn loaded(args: &DatabaseArgs, screen: &Screen) -> anyhow::Result<(Facts, Hierarchy)> {
    let runtime = tokio::runtime::Runtime::new().context("cannot start the runtime")?;
    runtime.block_on(look(args, screen, live))?.ok_or_else(|| NothingLoaded.into())
}

async fn live(store: Store) -> Result<Option<(Facts, Hierarchy)>, StoreError> {
    let Some(facts) = generations::live(&store).await? else { return Ok(None) };
    let hierarchy = generations::read(&store, facts.id).await?;
    Ok(hierarchy.map(|hierarchy| (facts, hierarchy)))
}

/// The generation in use with what is tied to it; `None` before the first load.
pub(crate) async fn in_use(args: &DatabaseArgs, screen: &Screen) -> anyhow::Result<Option<InUse>> {
    look(args, screen, async |store: Store| InUse::read(&store).await).await
}

/// Asks the database something and lets go of it again. Where there is no database there is nothing
/// to be found, and none is made: the directory may be a slip of the pen.
pub(crate) async fn look<T>(
    args: &DatabaseArgs,
    screen: &Screen,
    question: impl AsyncFnOnce(Store) -> Result<Option<T>, StoreError>,
) -> anyhow::Result<Option<T>> {
    if args.database_url.is_none() && !cluster::exists(&data_dir(args)?) {
        return Ok(None);
    }
    let (cluster, address) = database(args, screen).await?;
    let asked = async {
        let store = store::open_with(&address, 2).await?;
        let found = question(store.clone()).await?;
        store.close().await;
        Ok(found)
    };
    let outcome = tokio::select! {
        outcome = asked => outcome,
        _ = tokio::signal::ctrl_c() => Err(Interrupted.into()),
    };
    if let Some(cluster) = cluster {
        cluster.stop().await;
    }
    outcome
}

/// Where a loaded range is from: the file of its registry, as the generation remembers it.
pub(crate) fn source_of(facts: &Facts, registry: Option<hierarchy::Registry>) -> Option<String> {
    let registry = registry?.as_str();
    let files = facts.sources.iter().filter(|source| source.registry == registry);
    let names: Vec<&str> = files.map(|source| source.file.as_str()).collect();
    (!names.is_empty()).then(|| names.join(", "))
}
