//! `lab report`: the table and the plot of the delegation experiment in docs/benchmarks.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use lab::{Curve, Outcome, Plot, ScenarioSettings, Strategy, Topology, mean_of, replay};

use crate::cli::files::{self, Files};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    files: Files,
    /// Folder for the CSV and SVG files
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Written into the files
    #[arg(long, value_name = "YYYY-MM-DD")]
    date: String,
    /// Numbers of agents
    #[arg(long, value_delimiter = ',', default_values_t = [4, 12, 50, 100])]
    agents: Vec<usize>,
    /// New subnets in each scenario
    #[arg(long, default_value_t = 1000)]
    subnets: usize,
    /// Draws for each line
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..))]
    seeds: u64,
}

const THRESHOLDS_MS: [f64; 5] = [10.0, 20.0, 50.0, 100.0, 200.0];

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    fs::create_dir_all(&args.out).with_context(|| format!("cannot make {}", args.out.display()))?;
    let topology = args.files.topology()?;
    let mut table = String::from(
        "agents,strategy,setting,optimal_share,within_20ms_share,excess_ms_mean,excess_ms_p95,\
         probes_per_subnet,probes_last_tenth,crawl_time_ratio_to_random,\
         optimum_ratio_to_random\n",
    );
    let mut curves = Vec::new();
    for agents in &args.agents {
        for (name, settings) in strategies() {
            let mut points = Vec::new();
            for (setting, strategy) in settings {
                let outcome = outcome(args, &topology, *agents, strategy)?;
                table.push_str(&line(*agents, name, &setting, &outcome));
                points.push((outcome.probes_per_subnet, outcome.optimal_share));
            }
            if points.len() > 1 {
                curves.push(Curve { name: format!("{name}, {agents} agents"), points });
            }
        }
    }
    let plot = Plot {
        title: format!("Optimal delegations against probes ({} seeds, {})", args.seeds, args.date),
        x_label: "probes a subnet".into(),
        y_label: "share of optimal delegations".into(),
        curves,
    };
    write(&args.out.join("delegation.csv"), &table)?;
    write(&args.out.join("delegation.svg"), &plot.svg())
}

/// Each strategy with the settings that it is tried with.
fn strategies() -> Vec<(&'static str, Vec<(String, Strategy)>)> {
    let threshold = THRESHOLDS_MS
        .map(|threshold_ms| (format!("{threshold_ms} ms"), Strategy::Threshold { threshold_ms }));
    let single = |strategy| vec![(String::new(), strategy)];
    vec![
        ("threshold", threshold.to_vec()),
        ("random", single(Strategy::Random)),
        ("ubicrawler", single(Strategy::Ubicrawler)),
        ("all-probe", single(Strategy::AllProbe)),
    ]
}

fn outcome(
    args: &Args,
    topology: &Topology,
    agents: usize,
    strategy: Strategy,
) -> anyhow::Result<Outcome> {
    let base = match args.files.targets {
        Some(_) => {
            ScenarioSettings { agents, subnets: args.subnets, ..ScenarioSettings::default() }
        }
        None => ScenarioSettings::without_noise(agents, args.subnets),
    };
    let run = |seed| anyhow::Ok(replay(&files::scenario(topology, base, seed)?, strategy));
    let outcomes: Vec<Outcome> = (1..=args.seeds).map(run).collect::<Result<_, _>>()?;
    Ok(mean_of(&outcomes))
}

fn line(agents: usize, strategy: &str, setting: &str, outcome: &Outcome) -> String {
    format!(
        "{agents},{strategy},{setting},{:.4},{:.4},{:.3},{:.3},{:.3},{:.3},{:.4},{:.4}\n",
        outcome.optimal_share,
        outcome.within_20ms_share,
        outcome.excess_ms_mean,
        outcome.excess_ms_p95,
        outcome.probes_per_subnet,
        outcome.probes_last_tenth,
        outcome.crawl_time_ratio_to_random,
        outcome.optimum_ratio_to_random,
    )
}

fn write(file: &Path, text: &str) -> anyhow::Result<()> {
    fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))?;
    eprintln!("wrote {}", file.display());
    Ok(())
}
