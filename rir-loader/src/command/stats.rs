//! The command `rir-loader stats`.

use std::time::SystemTime;

use rir_loader::read::Options;
use rir_loader::stats::Stats;

use super::database::current_generation;
use super::{print_report, read_paths};
use crate::cli::FilesArgs;
use crate::progress_bar::ProgressBars;

pub(crate) fn run(args: &FilesArgs) -> anyhow::Result<()> {
    let bars = ProgressBars::new("reading");
    let stats = if args.paths.is_empty() {
        let (facts, hierarchy) = current_generation(&args.common, &bars)?;
        Stats::of_current(&facts, &hierarchy, now_ms())
    } else {
        let options = Options { may_be_empty: true, ..args.reading.options() };
        Stats::of(&read_paths(&args.paths, options, &bars)?)
    };
    drop(bars);
    print_report(&stats, args.common.json)
}

/// Milliseconds since 1970.
fn now_ms() -> i64 {
    let passed = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(passed.as_millis()).unwrap_or(i64::MAX)
}
