//! `lab report`: the tables and plots of docs/benchmarks.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use delegation::calibration::Sensitivity;
use lab::{
    Calibration, Curve, FetchTimeSettings, GeneratedSettings, Outcome, Plot, ScenarioSettings,
    Strategy, Topology, TrialSettings, calibration, compare_rules, generate, mean_of, replay,
};
use model::BalanceRule;

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
    delegation_report(args)?;
    balance_report(args)?;
    calibration_report(args)
}

fn delegation_report(args: &Args) -> anyhow::Result<()> {
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

fn balance_report(args: &Args) -> anyhow::Result<()> {
    let mut table = String::from(
        "agents,subnets,largest_load,slack,seed,rule,ratio_to_bound,best_share,moves,overload,\
         unplaced,cpu_ms\n",
    );
    let mut curves: Vec<Curve> = Vec::new();
    for largest_load in [1, 9] {
        for slack in [0.02, 0.05, 0.1, 0.2, 0.4] {
            let settings = GeneratedSettings {
                agents: 50,
                subnets: 5000,
                largest_load,
                slack,
                known: usize::MAX,
                seed: 1,
            };
            let problem = generate(settings).context("cannot make a problem")?;
            let compared = compare_rules(&problem, &BalanceRule::MOVING);
            for result in &compared.results {
                let ratio = result.cost / compared.bound;
                let best = result.best_share.map_or(String::new(), |share| format!("{share:.4}"));
                writeln!(
                    table,
                    "50,5000,{largest_load},{slack},1,{},{ratio:.5},{best},{},{},{},{:.0}",
                    result.rule,
                    result.moves,
                    result.overload,
                    result.unplaced,
                    result.elapsed.cpu_ms
                )?;
                let name = format!("{}, loads to {largest_load}", result.rule);
                match curves.iter_mut().find(|curve| curve.name == name) {
                    Some(curve) => curve.points.push((slack, ratio - 1.0)),
                    None => curves.push(Curve { name, points: vec![(slack, ratio - 1.0)] }),
                }
            }
        }
    }
    let plot = Plot {
        title: format!(
            "What balance costs above the bound (50 agents, 5,000 subnets, seed 1, {})",
            args.date
        ),
        x_label: "room beyond the load".into(),
        y_label: "cost above the bound, as a share".into(),
        curves,
    };
    write(&args.out.join("balance.csv"), &table)?;
    write(&args.out.join("balance.svg"), &plot.svg())
}

fn calibration_report(args: &Args) -> anyhow::Result<()> {
    let mut table = String::from(
        "noise,repeats,seed,false_alarm_share,found_share,found_soon_share,fetches_to_find_mean,\
         fetches_to_find_p99\n",
    );
    let mut curves = Vec::new();
    for repeats in [2, 3, 5] {
        let mut points = Vec::new();
        for noise in [0.05, 0.1, 0.15, 0.2, 0.25, 0.3] {
            let fetch_times = FetchTimeSettings { noise, ..FetchTimeSettings::default() };
            let settings = TrialSettings { subnets: 200, pages: 10, fetches: 200, seed: 1 };
            let Calibration {
                false_alarm_share,
                found_share,
                found_soon_share,
                fetches_to_find_mean,
                fetches_to_find_p99,
                ..
            } = calibration(fetch_times, Sensitivity { factor: 2.0, repeats }, settings, 2.0);
            writeln!(
                table,
                "{noise},{repeats},1,{false_alarm_share:.6},{found_share:.4},{found_soon_share:.4},\
                 {fetches_to_find_mean:.2},{fetches_to_find_p99}"
            )?;
            points.push((noise, fetches_to_find_mean));
        }
        curves.push(Curve { name: format!("{repeats} repeats"), points });
    }
    let plot = Plot {
        title: format!(
            "How soon a doubling is found (400,000 fetches a point, seed 1, {})",
            args.date
        ),
        x_label: "noise of a fetch (lognormal sigma)".into(),
        y_label: "fetches until the report, mean".into(),
        curves,
    };
    write(&args.out.join("calibration.csv"), &table)?;
    write(&args.out.join("calibration.svg"), &plot.svg())
}

fn write(file: &Path, text: &str) -> anyhow::Result<()> {
    fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))?;
    eprintln!("wrote {}", file.display());
    Ok(())
}
