//! `rir-loader cut`

use std::time::Instant;

use anyhow::Context;
use rir_loader::cut::cut;
use store::Store;

use super::database::look;
use super::{print, print_json};
use crate::cli::CutArgs;
use crate::failure::NothingLoaded;
use crate::screen::Screen;

/// Ctrl-C ends it cleanly, and with it what was written of the new generation.
pub(crate) fn run(args: &CutArgs) -> anyhow::Result<()> {
    let screen = Screen::new("copying");
    let runtime = tokio::runtime::Runtime::new().context("cannot start the runtime")?;
    let watch = |step: rir_loader::Step<'_>| screen.see(step);
    let cutting = async |store: Store| cut(&store, Instant::now(), &watch).await;
    let report = runtime.block_on(look(&args.database, &screen, cutting))?.ok_or(NothingLoaded)?;
    drop(screen);
    if args.json { print_json(&report) } else { Ok(print(&report.to_string())?) }
}
