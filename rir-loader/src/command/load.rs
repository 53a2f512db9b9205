//! The command `rir-loader load`.

use std::time::Instant;

use anyhow::Context;
use rir_loader::load::load;
use rir_loader::preview::{CurrentState, Preview};
use rir_loader::terms::terms_of;
use store::Store;

use super::database::{query, with_store};
use super::{print_report, read_paths};
use crate::cli::LoadArgs;
use crate::progress_bar::ProgressBars;

pub(crate) fn run(args: &LoadArgs) -> anyhow::Result<()> {
    let bars = ProgressBars::new("reading");
    let begun = Instant::now();
    let data = read_paths(&args.paths, args.reading.options(), &bars)?;
    let reading = begun.elapsed();
    for terms in terms_of(&data.files) {
        bars.print_line(&terms.to_string());
    }
    let runtime = tokio::runtime::Runtime::new().context("cannot start the runtime")?;
    if args.dry_run {
        let read = async |store: Store| CurrentState::read(&store).await;
        let current = runtime.block_on(query(&args.common, &bars, read))?;
        let preview = Preview::of(current.as_ref(), &data);
        drop(bars);
        return print_report(&preview, args.common.json);
    }
    let progress = |step: rir_loader::Step<'_>| bars.show(step);
    let report = runtime.block_on(with_store(&args.common, &bars, async |store: Store| {
        let now = Instant::now();
        // Starting a private Postgres is not part of the build time.
        let begun = now.checked_sub(reading).unwrap_or(now);
        load(&store, &data, args.reading.force, begun, &progress).await
    }))?;
    drop(bars);
    print_report(&report, args.common.json)
}
