use anyhow::Context as _;
use lab::{GeneratedSettings, RuleResult, compare_rules, generate};
use model::BalanceRule;
use serde::Serialize;

use crate::cli::output;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    generated: GeneratedSettings,
    /// Leave out the online rules
    #[arg(long)]
    optimal_only: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
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
    #[serde(flatten)]
    result: RuleResult,
    ratio_to_optimum: f64,
    ratio_to_bound: f64,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let problem = generate(args.generated).context("cannot generate a problem")?;
    let rules: &[BalanceRule] = if args.optimal_only { &[] } else { &BalanceRule::MOVING };
    let compared = compare_rules(&problem, rules);
    let bound = compared.bound;
    let optimum = compared.results.first().map_or(bound, |result| result.cost);
    let rule = |result: RuleResult| RuleReport {
        ratio_to_optimum: result.cost / optimum,
        ratio_to_bound: result.cost / bound,
        result,
    };
    let report = Report {
        agents: problem.capacities().len(),
        subnets: problem.subnets().len(),
        load: problem.subnets().iter().map(|subnet| subnet.load).sum(),
        capacity: problem.capacities().iter().sum(),
        seed: args.generated.seed,
        bound,
        nearest_cost: compared.nearest,
        rules: compared.results.into_iter().map(rule).collect(),
    };
    output::print(&report, args.json)
}
