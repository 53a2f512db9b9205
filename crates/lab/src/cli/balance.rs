//! `lab balance`.

use std::path::PathBuf;

use anyhow::Context as _;
use delegation::balance::AssignmentProblem;
use lab::{Contest, Entry, MadeSettings, change, contest, instance_file, made};
use model::BalanceRule;
use serde::Serialize;

use crate::cli::lines;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// CSV with subnet,agent,cost,load,capacity (one line per pair), or with subnet,load,<agents>
    /// and a line "capacity"; without it an instance is made up
    #[arg(long, value_name = "FILE")]
    instance: Option<PathBuf>,
    /// Costs in the file are those of one page: multiply them by the load
    #[arg(long, requires = "instance")]
    per_page: bool,
    #[command(flatten)]
    made: MadeArgs,
    /// Afterwards change the times of this share of the subnets and follow
    #[arg(long, value_name = "SHARE", value_parser = share)]
    change: Option<f64>,
    /// Leave out the online rules
    #[arg(long)]
    optimal_only: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// The made-up instance.
#[derive(Debug, clap::Args)]
struct MadeArgs {
    /// How many agents
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    agents: u32,
    /// How many subnets
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..))]
    subnets: u32,
    /// Loads are drawn from 1 to this
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    largest_load: u64,
    /// Room beyond the load, as a share
    #[arg(long, default_value_t = 0.1, value_name = "SHARE", value_parser = share)]
    slack: f64,
    /// Agents with a known cost per subnet [default: all]
    #[arg(long, value_name = "N")]
    known: Option<usize>,
    /// Seed of all chance
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

fn share(text: &str) -> Result<f64, String> {
    let share: f64 = text.parse().map_err(|_| format!("{text} is not a number"))?;
    if (0.0..=10.0).contains(&share) {
        Ok(share)
    } else {
        Err(format!("{text} is not between 0 and 10"))
    }
}

/// The one object that is printed.
#[derive(Debug, Serialize)]
struct Report {
    agents: usize,
    subnets: usize,
    load: u64,
    capacity: u64,
    seed: Option<u64>,
    bound: f64,
    nearest_cost: f64,
    rules: Vec<Line>,
    #[serde(skip_serializing_if = "Option::is_none")]
    change: Option<ChangeLine>,
}

#[derive(Debug, Serialize)]
struct Line {
    rule: &'static str,
    cost: f64,
    ratio_to_optimum: f64,
    ratio_to_bound: f64,
    moves: usize,
    best_share: Option<f64>,
    overload: u64,
    unplaced: usize,
    took_ms: f64,
    cpu_ms: f64,
}

#[derive(Debug, Serialize)]
struct ChangeLine {
    subnets: usize,
    took_ms: f64,
    cpu_ms: f64,
    ratio_to_bound: f64,
    speedup_over_starting_anew: f64,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let mut instance = match &args.instance {
        Some(file) => instance_file(file, args.per_page)?,
        None => made(args.made.settings()).context("cannot make an instance")?,
    };
    let rules: &[BalanceRule] = if args.optimal_only { &[] } else { &BalanceRule::MOVING };
    let mut seen = contest(&instance, rules);
    let mut report = report(args, &instance, &seen);
    if let Some(share) = args.change {
        let followed = change(&mut instance, &mut seen.flow, share, args.made.seed)?;
        report.change = Some(ChangeLine {
            subnets: followed.subnets,
            took_ms: followed.took.wall_ms,
            cpu_ms: followed.took.cpu_ms,
            ratio_to_bound: followed.ratio,
            speedup_over_starting_anew: seen.entries[0].took.cpu_ms / followed.took.cpu_ms,
        });
    }
    lines::print(&report, args.json)
}

fn report(args: &Args, instance: &AssignmentProblem, seen: &Contest) -> Report {
    let optimum = seen.entries.first().map_or(seen.bound, |entry| entry.cost);
    Report {
        agents: instance.capacities().len(),
        subnets: instance.subnets().len(),
        load: instance.subnets().iter().map(|subnet| subnet.load).sum(),
        capacity: instance.capacities().iter().sum(),
        seed: args.instance.is_none().then_some(args.made.seed),
        bound: seen.bound,
        nearest_cost: seen.nearest,
        rules: seen.entries.iter().map(|entry| line(entry, seen.bound, optimum)).collect(),
        change: None,
    }
}

fn line(entry: &Entry, bound: f64, optimum: f64) -> Line {
    Line {
        rule: entry.rule,
        cost: entry.cost,
        ratio_to_optimum: entry.cost / optimum,
        ratio_to_bound: entry.cost / bound,
        moves: entry.moves,
        best_share: entry.best_share,
        overload: entry.overload,
        unplaced: entry.unplaced,
        took_ms: entry.took.wall_ms,
        cpu_ms: entry.took.cpu_ms,
    }
}

impl MadeArgs {
    fn settings(&self) -> MadeSettings {
        MadeSettings {
            agents: self.agents as usize,
            subnets: self.subnets as usize,
            largest_load: self.largest_load,
            slack: self.slack,
            known: self.known.unwrap_or(usize::MAX),
            seed: self.seed,
        }
    }
}
