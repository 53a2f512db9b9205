//! `rir-loader inspect`

use hierarchy::{Hierarchy, Range};
use rir_loader::files::files;
use rir_loader::inspect::{Link, Source, chain_in, holdings};
use rir_loader::read::{Options, read_with};

use super::database::{loaded, source_of};
use super::{print, print_json};
use crate::cli::InspectArgs;
use crate::failure::NoSuchCompany;
use crate::screen::Screen;

pub(crate) fn run(args: &InspectArgs) -> anyhow::Result<()> {
    let screen = Screen::new("reading");
    let links = links(args, &screen)?;
    drop(screen);
    if args.json {
        return print_json(&links);
    }
    let shown: Vec<String> = links.iter().map(Link::to_string).collect();
    Ok(print(&format!("{}\n", shown.join("\n")))?)
}

fn links(args: &InspectArgs, screen: &Screen) -> anyhow::Result<Vec<Link>> {
    if args.paths.is_empty() {
        let (facts, hierarchy) = loaded(&args.database, screen)?;
        let source = |range: &Range| {
            let registry = hierarchy.find(range).and_then(|id| hierarchy.subnet(id).registry());
            source_of(&facts, registry)
        };
        return look_up(&hierarchy, &args.what, &source);
    }
    let options = Options { origins: true, may_be_empty: true, ..args.reading.options() };
    let nested = read_with(&files(&args.paths)?, options, &|step| screen.see(step))?;
    let source = |range: &Range| nested.file_of(range);
    look_up(&nested.hierarchy, &args.what, &source)
}

/// What reads as an address, a prefix or a range is one; everything else is a company.
fn look_up(hierarchy: &Hierarchy, what: &str, source: Source<'_>) -> anyhow::Result<Vec<Link>> {
    if let Ok(range) = what.parse::<Range>() {
        return Ok(chain_in(hierarchy, &range, source));
    }
    let found = holdings(hierarchy, what, source);
    if found.is_empty() { Err(NoSuchCompany(what.to_owned()).into()) } else { Ok(found) }
}
