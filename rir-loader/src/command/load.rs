//! `rir-loader load`

use std::time::{Duration, Instant};

use anyhow::Context;
use rir_loader::Watch;
use rir_loader::files::files;
use rir_loader::load::load_with;
use rir_loader::preview::Preview;
use rir_loader::read::{Nested, read_with};
use rir_loader::report::LoadReport;
use rir_loader::terms::terms_of;
use store::{Address, Store};

use super::database::{database, in_use};
use super::{print, print_json};
use crate::cli::LoadArgs;
use crate::failure::Interrupted;
use crate::screen::Screen;

pub(crate) fn run(args: &LoadArgs) -> anyhow::Result<()> {
    let screen = Screen::new("reading");
    let begun = Instant::now();
    let nested = read_with(&files(&args.paths)?, args.reading.options(), &|step| screen.see(step))?;
    let spent = begun.elapsed();
    show_terms(&nested, &screen);
    let runtime = tokio::runtime::Runtime::new().context("cannot start the runtime")?;
    if args.dry_run {
        let preview =
            Preview::of(runtime.block_on(in_use(&args.database, &screen))?.as_ref(), &nested);
        drop(screen);
        return if args.json { print_json(&preview) } else { Ok(print(&preview.to_string())?) };
    }
    let report = runtime.block_on(write(args, &nested, spent, &screen))?;
    drop(screen);
    if args.json { print_json(&report) } else { Ok(print(&report.to_string())?) }
}

/// What each registry allows to be done with its dumps.
fn show_terms(nested: &Nested, screen: &Screen) {
    for terms in terms_of(&nested.files) {
        screen.say(&terms.to_string());
    }
}

/// Into the database; Ctrl-C ends it cleanly, and with it what was written of the new generation.
async fn write(
    args: &LoadArgs,
    nested: &Nested,
    spent: Duration,
    screen: &Screen,
) -> anyhow::Result<LoadReport> {
    let force = args.reading.force;
    let (cluster, address) = database(&args.database, screen).await?;
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

/// `spent` is how long reading took; starting a private Postgres in between is no part of the
/// build.
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
