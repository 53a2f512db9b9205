//! `rir-loader diff`

use std::path::Path;

use hierarchy::Hierarchy;
use rir_loader::diff::Diff;
use rir_loader::files::files;
use rir_loader::read::{Options, read_with};

use super::database::loaded;
use super::{print, print_json};
use crate::cli::DiffArgs;
use crate::screen::Screen;

/// What stands for the generation in use.
const LOADED: &str = "loaded";

pub(crate) fn run(args: &DiffArgs) -> anyhow::Result<()> {
    let screen = Screen::new("reading");
    let (before, after) = (side(&args.before, args, &screen)?, side(&args.after, args, &screen)?);
    let diff = Diff::of(&before, &after);
    drop(screen);
    if args.json { print_json(&diff) } else { Ok(print(&diff.to_string())?) }
}

fn side(path: &Path, args: &DiffArgs, screen: &Screen) -> anyhow::Result<Hierarchy> {
    if path.as_os_str() == LOADED {
        return Ok(loaded(&args.database, screen)?.1);
    }
    let options = Options { force: args.force, ..Options::default() };
    let paths = files(&[path.to_owned()])?;
    Ok(read_with(&paths, options, &|step| screen.see(step))?.hierarchy)
}
