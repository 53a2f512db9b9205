//! The database that a command was told of.

use anyhow::Context;
use cluster::{Cluster, Options};
use hierarchy::Hierarchy;
use store::generations::{self, Facts};
use store::{Address, Store};

use crate::cli::DatabaseArgs;
use crate::failure::{Interrupted, NothingLoaded};
use crate::screen::Screen;

/// The database that was asked for, else the private one, which is started when the coordinator does not run it already.
pub(crate) async fn database(
    args: &DatabaseArgs,
    screen: &Screen,
) -> anyhow::Result<(Option<Cluster>, Address)> {
    if let Some(url) = &args.database_url {
        return Ok((None, Address::url(url)?));
    }
    let dir = args.data_dir.clone().or_else(cluster::default_data_dir);
    let dir = dir
        .context("no home directory to keep a database in: name one with --data-dir, or set DATABASE_URL")?;
    screen.say(&format!("using the private Postgres in {} (no database URL was given)", dir.display()));
    let cluster = Cluster::start(Options::new(dir)).await?;
    let address = Address::private(cluster.socket_dir());
    Ok((Some(cluster), address))
}

/// The generation in use.
pub(crate) fn loaded(args: &DatabaseArgs, screen: &Screen) -> anyhow::Result<(Facts, Hierarchy)> {
    let runtime = tokio::runtime::Runtime::new().context("cannot start the runtime")?;
    runtime.block_on(async {
        let (cluster, address) = database(args, screen).await?;
        let outcome = tokio::select! {
            outcome = live(&address) => outcome,
            _ = tokio::signal::ctrl_c() => Err(Interrupted.into()),
        };
        if let Some(cluster) = cluster {
            cluster.stop().await;
        }
        outcome
    })
}

async fn live(address: &Address) -> anyhow::Result<(Facts, Hierarchy)> {
    let store: Store = store::open_with(address, 2).await?;
    let facts = generations::live(&store).await?.ok_or(NothingLoaded)?;
    let hierarchy = generations::read(&store, facts.id).await?.ok_or(NothingLoaded)?;
    store.close().await;
    Ok((facts, hierarchy))
}

/// Where a loaded range is from: the file of its registry, as the generation remembers it.
pub(crate) fn source_of(facts: &Facts, registry: Option<hierarchy::Registry>) -> Option<String> {
    let registry = registry?.as_str();
    let files = facts.sources.iter().filter(|source| source.registry == registry);
    let names: Vec<&str> = files.map(|source| source.file.as_str()).collect();
    (!names.is_empty()).then(|| names.join(", "))
}
