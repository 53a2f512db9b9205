//! The command `rir-loader split`.

use std::time::Instant;

use anyhow::Context;
use rir_loader::split::split;
use store::Store;

use super::database::query;
use super::print_report;
use crate::cli::CommonArgs;
use crate::failure::NothingLoaded;
use crate::progress_bar::ProgressBars;

pub(crate) fn run(args: &CommonArgs) -> anyhow::Result<()> {
    let bars = ProgressBars::new("copying");
    let runtime = tokio::runtime::Runtime::new().context("cannot start the runtime")?;
    let progress = |step: rir_loader::Step<'_>| bars.show(step);
    let split = async |store: Store| split(&store, Instant::now(), &progress).await;
    let report = runtime.block_on(query(args, &bars, split))?.ok_or(NothingLoaded)?;
    drop(bars);
    print_report(&report, args.json)
}
