use lab::{Forgery, ForgeryOutcome, ForgerySettings, Irregularity, ScenarioSettings, Topology};
use serde::Serialize;

use crate::cli::files::{self, Files};
use crate::cli::output;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    files: Files,
    /// How many agents, the liar included
    #[arg(long, default_value_t = 12, value_parser = clap::value_parser!(u32).range(3..))]
    agents: u32,
    /// Searches of a run
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    searches: u32,
    /// Share of trusted agents' wins that are checked
    #[arg(long, default_value_t = 0.01, value_name = "SHARE")]
    control_share: f64,
    /// How many seeds
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    seeds: u32,
    /// The first seed
    #[arg(long, default_value_t = 1)]
    first_seed: u64,
    /// What is unusual about one honest agent
    #[arg(long, value_enum, default_value_t = Irregularity::None)]
    unusual: Irregularity,
    /// Decide without checking any report
    #[arg(long)]
    unchecked: bool,
    /// Print one JSON object per forgery
    #[arg(long)]
    json: bool,
}

/// The printed object of one forgery.
#[derive(Debug, Serialize)]
struct Report {
    forgery: &'static str,
    runs: usize,
    /// Runs in which the liar was paused.
    paused: usize,
    /// Searches until it was paused: mean and most.
    searches_mean: f64,
    searches_most: usize,
    /// Share of the subnets that it was wrongly given until then: over all runs, and the most in
    /// one run.
    wrong_share: f64,
    wrong_share_most: f64,
    /// Most subnets that it was wrongly given in one run.
    wrong_most: usize,
    /// Honest agents that were paused in all runs.
    honest_paused: usize,
    /// Share of contradicted reports on homes: the highest of an honest agent, the lowest of a
    /// liar.
    honest_share: f64,
    liar_share: f64,
    probes_per_search: f64,
    control_per_search: f64,
    optimal_share: f64,
}

const FORGERIES: [(Forgery, &str); 4] = [
    (Forgery::None, "none"),
    (Forgery::Constant, "constant 1 us"),
    (Forgery::Half, "half of the truth"),
    (Forgery::Random, "random"),
];

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let topology = args.files.topology()?;
    for (forgery, name) in FORGERIES {
        output::print(&report(name, &args.outcomes(&topology, forgery)?), args.json)?;
    }
    Ok(())
}

impl Args {
    fn outcomes(
        &self,
        topology: &Topology,
        forgery: Forgery,
    ) -> anyhow::Result<Vec<ForgeryOutcome>> {
        let settings = ForgerySettings {
            forgery,
            irregularity: self.unusual,
            control_share: self.control_share,
            checks: !self.unchecked,
        };
        let base = ScenarioSettings {
            agents: self.agents as usize,
            subnets: self.searches as usize,
            ..ScenarioSettings::default()
        };
        let seeds = self.first_seed..self.first_seed + u64::from(self.seeds);
        seeds
            .map(|seed| Ok(lab::forgery(&files::scenario(topology, base, seed)?, settings)))
            .collect()
    }
}

fn report(forgery: &'static str, outcomes: &[ForgeryOutcome]) -> Report {
    let runs = outcomes.len();
    let paused: Vec<usize> = outcomes.iter().filter_map(|outcome| outcome.paused_after).collect();
    let sum = |of: fn(&ForgeryOutcome) -> usize| outcomes.iter().map(of).sum::<usize>() as f64;
    let most = |of: fn(&ForgeryOutcome) -> f64| outcomes.iter().map(of).fold(0.0, f64::max);
    let searches = sum(|outcome| outcome.searches);
    Report {
        forgery,
        runs,
        paused: paused.len(),
        searches_mean: paused.iter().sum::<usize>() as f64 / paused.len().max(1) as f64,
        searches_most: paused.iter().copied().max().unwrap_or(0),
        wrong_share: sum(|outcome| outcome.wrong) / sum(|outcome| outcome.decided).max(1.0),
        wrong_share_most: most(ForgeryOutcome::wrong_share),
        wrong_most: outcomes.iter().map(|outcome| outcome.wrong).max().unwrap_or(0),
        honest_paused: outcomes.iter().map(|outcome| outcome.honest_paused).sum(),
        honest_share: most(|outcome| outcome.honest_share),
        liar_share: outcomes.iter().map(|outcome| outcome.liar_share).fold(1.0, f64::min),
        probes_per_search: sum(|outcome| outcome.probes) / searches,
        control_per_search: sum(|outcome| outcome.control_probes) / searches,
        optimal_share: outcomes.iter().map(|outcome| outcome.optimal_share).sum::<f64>()
            / runs as f64,
    }
}
