//! `rir-loader inspect`

use rir_loader::files::files;
use rir_loader::inspect::{Link, chain};
use rir_loader::read::read;

use super::{print, print_json};
use crate::cli::InspectArgs;
use crate::screen::Screen;

pub(crate) fn run(args: &InspectArgs) -> anyhow::Result<()> {
    let screen = Screen::new("reading");
    let nested = read(&files(&args.paths)?, &|step| screen.see(step))?;
    let chain = chain(&nested, &args.range);
    if args.json {
        return print_json(&chain);
    }
    let lines: Vec<String> = chain.iter().map(Link::to_string).collect();
    Ok(print(&format!("{}\n", lines.join("\n")))?)
}
