use anyhow::Context as _;
use delegation::balance::AssignmentProblem;
use lab::{GeneratedSettings, RuleComparison, RuleResult, compare_rules, generate};
use model::BalanceRule;
use serde::Serialize;

use crate::cli::output;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    generated: GeneratedArgs,
    /// Leave out the online rules
    #[arg(long)]
    optimal_only: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Settings of the generated problem.
#[derive(Debug, clap::Args)]
struct GeneratedArgs {
    /// How many agents
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    agents: u32,
    /// How many subnets
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..))]
    subnets: u32,
    /// Loads are drawn from 1 to this
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    largest_load: u64,
    /// Capacity beyond the load, as a share
    #[arg(long, default_value_t = 0.1, value_name = "SHARE", value_parser = share)]
    slack: f64,
    /// Agents with a known cost per subnet [default: all]
    #[arg(long, value_name = "N")]
    known: Option<usize>,
    /// Seed of all random numbers
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

/// The printed object.
#[derive(Debug, Serialize)]
struct Report {
    agents: usize,
    subnets: usize,
    load: u64,
    capacity: u64,
    seed: u64,
    bound: f64,
    nearest_cost: f64,
    rules: Vec<RuleReport>,
}

#[derive(Debug, Serialize)]
struct RuleReport {
    rule: &'static str,
    cost: f64,
    ratio_to_optimum: f64,
    ratio_to_bound: f64,
    moves: usize,
    best_share: Option<f64>,
    overload: u64,
    unplaced: usize,
    wall_ms: f64,
    cpu_ms: f64,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let problem = generate(args.generated.settings()).context("cannot generate a problem")?;
    let rules: &[BalanceRule] = if args.optimal_only { &[] } else { &BalanceRule::MOVING };
    output::print(&report(args, &problem, &compare_rules(&problem, rules)), args.json)
}

fn report(args: &Args, problem: &AssignmentProblem, compared: &RuleComparison) -> Report {
    let optimum = compared.results.first().map_or(compared.bound, |result| result.cost);
    let rule = |result| rule_report(result, compared.bound, optimum);
    Report {
        agents: problem.capacities().len(),
        subnets: problem.subnets().len(),
        load: problem.subnets().iter().map(|subnet| subnet.load).sum(),
        capacity: problem.capacities().iter().sum(),
        seed: args.generated.seed,
        bound: compared.bound,
        nearest_cost: compared.nearest,
        rules: compared.results.iter().map(rule).collect(),
    }
}

fn rule_report(result: &RuleResult, bound: f64, optimum: f64) -> RuleReport {
    RuleReport {
        rule: result.rule,
        cost: result.cost,
        ratio_to_optimum: result.cost / optimum,
        ratio_to_bound: result.cost / bound,
        moves: result.moves,
        best_share: result.best_share,
        overload: result.overload,
        unplaced: result.unplaced,
        wall_ms: result.elapsed.wall_ms,
        cpu_ms: result.elapsed.cpu_ms,
    }
}

impl GeneratedArgs {
    fn settings(&self) -> GeneratedSettings {
        GeneratedSettings {
            agents: self.agents as usize,
            subnets: self.subnets as usize,
            largest_load: self.largest_load,
            slack: self.slack,
            known: self.known.unwrap_or(usize::MAX),
            seed: self.seed,
        }
    }
}
