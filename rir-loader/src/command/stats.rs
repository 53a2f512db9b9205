//! `rir-loader stats`

use rir_loader::files::files;
use rir_loader::read::read;
use rir_loader::stats::Stats;

use super::{print, print_json};
use crate::cli::StatsArgs;
use crate::screen::Screen;

pub(crate) fn run(args: &StatsArgs) -> anyhow::Result<()> {
    let screen = Screen::new("reading");
    let nested = read(&files(&args.paths)?, &|step| screen.see(step))?;
    let stats = Stats::of(&nested);
    if args.json { print_json(&stats) } else { Ok(print(&stats.to_string())?) }
}
