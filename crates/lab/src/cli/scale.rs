use lab::{Scale, SearchKind, scale};
use serde::Serialize;

use crate::cli::files::{self, Files};
use crate::cli::output;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    files: Files,
    /// How many agents
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    agents: u32,
    /// How many hosts to delegate
    #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1..))]
    hosts: u64,
    /// Search to time
    #[arg(long, value_enum, default_value_t = SearchKind::Predictive)]
    strategy: SearchKind,
    /// Seed of all random numbers
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// The printed object.
#[derive(Debug, Serialize)]
struct Report {
    strategy: SearchKind,
    agents: usize,
    subnets: usize,
    seed: u64,
    #[serde(flatten)]
    seen: Scale,
    probes_per_search: f64,
    hosts_per_cpu_second: f64,
    decisions_per_cpu_second: f64,
    decisions_per_wall_second: f64,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let topology = args.files.topology()?;
    let settings = args.files.settings(args.agents as usize, usize::MAX);
    let scenario = files::scenario(&topology, settings, args.seed)?;
    let seen = scale(&scenario, args.hosts, args.strategy);
    let report = Report {
        strategy: args.strategy,
        agents: scenario.agents.len(),
        subnets: scenario.sites.len(),
        seed: args.seed,
        probes_per_search: seen.probes as f64 / seen.searches.max(1) as f64,
        hosts_per_cpu_second: per_second(seen.hosts, seen.run.cpu_ms),
        decisions_per_cpu_second: per_second(seen.decisions_again, seen.again.cpu_ms),
        decisions_per_wall_second: per_second(seen.decisions_again, seen.again.wall_ms),
        seen,
    };
    output::print(&report, args.json)
}

fn per_second(count: u64, ms: f64) -> f64 {
    (count as f64 * 1000.0 / ms.max(0.001)).round()
}
