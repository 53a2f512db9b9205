//! The command `rir-loader diff`.

use std::path::PathBuf;

use hierarchy::Hierarchy;
use rir_loader::diff::Diff;
use rir_loader::read::Options;

use super::database::current_generation;
use super::{print_report, read_paths};
use crate::cli::DiffArgs;
use crate::progress_bar::ProgressBars;

/// Path that means the current generation.
const LOADED: &str = "loaded";

pub(crate) fn run(args: &DiffArgs) -> anyhow::Result<()> {
    let bars = ProgressBars::new("reading");
    let before = read_side(&args.before, args, &bars)?;
    let after = read_side(&args.after, args, &bars)?;
    let diff = Diff::of(&before, &after);
    drop(bars);
    print_report(&diff, args.common.json)
}

fn read_side(path: &PathBuf, args: &DiffArgs, bars: &ProgressBars) -> anyhow::Result<Hierarchy> {
    if path.as_os_str() == LOADED {
        return Ok(current_generation(&args.common, bars)?.1);
    }
    let options = Options { force: args.force, ..Options::default() };
    Ok(read_paths(std::slice::from_ref(path), options, bars)?.hierarchy)
}
