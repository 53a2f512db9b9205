//! `rir-loader stats`

use std::time::SystemTime;

use rir_loader::files::files;
use rir_loader::read::{Options, read_with};
use rir_loader::stats::Stats;

use super::database::loaded;
use super::{print, print_json};
use crate::cli::StatsArgs;
use crate::screen::Screen;

pub(crate) fn run(args: &StatsArgs) -> anyhow::Result<()> {
    let screen = Screen::new("reading");
    let stats = stats(args, &screen)?;
    drop(screen);
    if args.json { print_json(&stats) } else { Ok(print(&stats.to_string())?) }
}

fn stats(args: &StatsArgs, screen: &Screen) -> anyhow::Result<Stats> {
    if args.paths.is_empty() {
        let (facts, hierarchy) = loaded(&args.database, screen)?;
        return Ok(Stats::of_loaded(&facts, &hierarchy, now()));
    }
    let options = Options { may_be_empty: true, ..args.reading.options() };
    Ok(Stats::of(&read_with(&files(&args.paths)?, options, &|step| screen.see(step))?))
}

/// In milliseconds since 1970.
fn now() -> i64 {
    let passed = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(passed.as_millis()).unwrap_or(i64::MAX)
}
