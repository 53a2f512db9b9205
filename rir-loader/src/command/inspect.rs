//! The command `rir-loader inspect`.

use hierarchy::{Hierarchy, Range, RangeError};
use rir_loader::inspect::{FindSource, SubnetInfo, chain, holdings};
use rir_loader::read::Options;

use super::database::{current_generation, source_of};
use super::{print, print_json, read_paths};
use crate::cli::{FilesArgs, InspectArgs};
use crate::failure::NoSuchCompany;
use crate::progress_bar::ProgressBars;

pub(crate) fn run(args: &InspectArgs) -> anyhow::Result<()> {
    let bars = ProgressBars::new("reading");
    let subnets = find_subnets(&args.query, &args.files, &bars)?;
    drop(bars);
    if args.files.common.json {
        return print_json(&subnets);
    }
    let lines: Vec<String> = subnets.iter().map(SubnetInfo::to_string).collect();
    Ok(print(&format!("{}\n", lines.join("\n")))?)
}

fn find_subnets(
    wanted: &str,
    args: &FilesArgs,
    bars: &ProgressBars,
) -> anyhow::Result<Vec<SubnetInfo>> {
    if args.paths.is_empty() {
        let (facts, hierarchy) = current_generation(&args.common, bars)?;
        // A generation remembers its files, but not the file of each range.
        let source = |range: &Range| {
            let registry = hierarchy.find(range).and_then(|id| hierarchy.subnet(id).registry());
            source_of(&facts, registry)
        };
        return look_up(&hierarchy, wanted, &source);
    }
    let options = Options { origins: true, may_be_empty: true, ..args.reading.options() };
    let data = read_paths(&args.paths, options, bars)?;
    look_up(&data.hierarchy, wanted, &|range| data.file_of(range))
}

/// A query of addresses is an address, a prefix or a range, or an error; any other is a company.
fn look_up(
    hierarchy: &Hierarchy,
    query: &str,
    source: FindSource<'_>,
) -> anyhow::Result<Vec<SubnetInfo>> {
    match query.parse::<Range>() {
        Ok(range) => return Ok(chain(hierarchy, &range, source)),
        Err(RangeError::Text(_)) => {}
        Err(error) => return Err(error.into()),
    }
    let found = holdings(hierarchy, query, source);
    if found.is_empty() { Err(NoSuchCompany(query.to_owned()).into()) } else { Ok(found) }
}
