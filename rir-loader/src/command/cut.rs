//! `rir-loader cut`

use std::time::Instant;

use anyhow::Context;
use rir_loader::Watch;
use rir_loader::cut::{CutReport, cut};
use store::Address;

use super::database::database;
use super::{print, print_json};
use crate::cli::CutArgs;
use crate::failure::{Interrupted, NothingLoaded};
use crate::screen::Screen;

pub(crate) fn run(args: &CutArgs) -> anyhow::Result<()> {
    let screen = Screen::new("copying");
    let runtime = tokio::runtime::Runtime::new().context("cannot start the runtime")?;
    let report = runtime.block_on(write(args, &screen))?;
    drop(screen);
    if args.json { print_json(&report) } else { Ok(print(&report.to_string())?) }
}

/// Ctrl-C ends it cleanly, and with it what was written of the new generation.
async fn write(args: &CutArgs, screen: &Screen) -> anyhow::Result<CutReport> {
    let (cluster, address) = database(&args.database, screen).await?;
    let watch = |step: rir_loader::Step<'_>| screen.see(step);
    let outcome = tokio::select! {
        outcome = into(&address, &watch) => outcome,
        _ = tokio::signal::ctrl_c() => Err(Interrupted.into()),
    };
    if let Some(cluster) = cluster {
        cluster.stop().await;
    }
    outcome
}

async fn into(address: &Address, watch: Watch<'_>) -> anyhow::Result<CutReport> {
    let store = store::open_with(address, 2).await?;
    let report = cut(&store, Instant::now(), watch).await?.ok_or(NothingLoaded)?;
    store.close().await;
    Ok(report)
}
