//! `rir-loader load`

use std::time::{Duration, Instant};

use anyhow::Context;
use cluster::{Cluster, Options};
use rir_loader::Watch;
use rir_loader::files::files;
use rir_loader::load::load_with;
use rir_loader::read::{Nested, read};
use rir_loader::report::LoadReport;
use store::{Address, Store};

use super::{print, print_json};
use crate::cli::LoadArgs;
use crate::failure::Interrupted;
use crate::screen::Screen;

pub(crate) fn run(args: LoadArgs) -> anyhow::Result<()> {
    let screen = Screen::new("reading");
    let begun = Instant::now();
    let nested = read(&files(&args.paths)?, &|step| screen.see(step))?;
    let spent = begun.elapsed();
    let json = args.json;
    let runtime = tokio::runtime::Runtime::new().context("cannot start the runtime")?;
    let report = runtime.block_on(write(args, &nested, spent, &screen))?;
    drop(screen);
    if json { print_json(&report) } else { Ok(print(&report.to_string())?) }
}

/// Into the database; Ctrl-C ends it cleanly, and with it what was written of the new generation.
async fn write(
    args: LoadArgs,
    nested: &Nested,
    spent: Duration,
    screen: &Screen,
) -> anyhow::Result<LoadReport> {
    let force = args.force;
    let (cluster, address) = database(args, screen).await?;
    let watch = |step: rir_loader::Step<'_>| screen.see(step);
    let outcome = tokio::select! {
        outcome = into(&address, nested, force, spent, &watch) => outcome,
        _ = tokio::signal::ctrl_c() => Err(Interrupted.into()),
    };
    if let Some(cluster) = cluster {
        cluster.stop().await;
    }
    outcome
}

/// `spent` is how long reading took; starting a private Postgres in between is no part of the build.
async fn into(
    address: &Address,
    nested: &Nested,
    force: bool,
    spent: Duration,
    watch: Watch<'_>,
) -> anyhow::Result<LoadReport> {
    // One connection for the load, one for whatever the pool needs meanwhile.
    let store: Store = store::open_with(address, 2).await?;
    let ready = Instant::now();
    let begun = ready.checked_sub(spent).unwrap_or(ready);
    let report = load_with(&store, nested, force, begun, watch).await?;
    store.close().await;
    Ok(report)
}

/// The database that was asked for, else the private one, which is started when the coordinator does not run it already.
async fn database(args: LoadArgs, screen: &Screen) -> anyhow::Result<(Option<Cluster>, Address)> {
    if let Some(url) = args.database_url {
        return Ok((None, Address::url(&url)?));
    }
    let dir = args.data_dir.or_else(cluster::default_data_dir);
    let dir = dir
        .context("no home directory to keep a database in: name one with --data-dir, or set DATABASE_URL")?;
    screen.say(&format!("using the private Postgres in {} (no database URL was given)", dir.display()));
    let cluster = Cluster::start(Options::new(dir)).await?;
    let address = Address::private(cluster.socket_dir());
    Ok((Some(cluster), address))
}
