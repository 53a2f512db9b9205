//! `lab report`: the tables and plots of docs/benchmarks.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use delegation::calibration::Sensitivity;
use delegation::predictor::{MIN_PROBABILITY, landmarks};
use lab::{
    Calibration, Curve, Days, Draw, DrawSettings, Ground, MadeSettings, Outcome, Plan, Plot,
    SeriesSettings, calibration, contest, made, mean_of, replay,
};
use model::BalanceRule;

use crate::cli::files::Files;

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
    /// New subnets in each draw
    #[arg(long, default_value_t = 1000)]
    subnets: usize,
    /// Draws for each line
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..))]
    seeds: u64,
}

const THRESHOLDS_MS: [f64; 5] = [10.0, 20.0, 50.0, 100.0, 200.0];
/// Chances from which on an agent is worth asking, times the usual one.
const WORTHS: [f64; 5] = [0.25, 0.5, 1.0, 2.0, 4.0];

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    fs::create_dir_all(&args.out).with_context(|| format!("cannot make {}", args.out.display()))?;
    delegation_report(args)?;
    balance_report(args)?;
    calibration_report(args)
}

fn delegation_report(args: &Args) -> anyhow::Result<()> {
    let ground = args.files.ground()?;
    let mut table = String::from(
        "agents,strategy,setting,optimal_share,within_20ms_share,excess_ms_mean,excess_ms_p95,probes_per_subnet,\
         probes_last_tenth,landmark_probes,crawl_time_ratio_to_random,optimum_ratio_to_random\n",
    );
    let mut curves = Vec::new();
    for agents in &args.agents {
        for (strategy, plans) in strategies() {
            let mut points = Vec::new();
            for (setting, plan) in plans {
                let seen = outcome(args, &ground, *agents, plan);
                table.push_str(&line(*agents, strategy, &setting, &seen));
                points.push((seen.probes_per_subnet, seen.optimal_share));
            }
            if points.len() > 1 {
                curves.push(Curve { name: format!("{strategy}, {agents} agents"), points });
            }
        }
    }
    let plot = Plot {
        title: format!("Optimal delegations against probes ({} seeds, {})", args.seeds, args.date),
        across: "probes a subnet".into(),
        up: "share of optimal delegations".into(),
        curves,
    };
    write(&args.out.join("delegation.csv"), &table)?;
    write(&args.out.join("delegation.svg"), &plot.svg())
}

/// Each strategy with the settings that it is tried with.
fn strategies() -> Vec<(&'static str, Vec<(String, Plan)>)> {
    let threshold = THRESHOLDS_MS
        .map(|threshold_ms| (format!("{threshold_ms} ms"), Plan::Threshold { threshold_ms }));
    let predictive = WORTHS.map(|times| {
        let min_probability = times * MIN_PROBABILITY;
        (format!("{min_probability:.4}"), Plan::Predictive { min_probability })
    });
    let plain = |plan| vec![(String::new(), plan)];
    vec![
        ("threshold", threshold.to_vec()),
        ("predictive", predictive.to_vec()),
        ("random", plain(Plan::Random)),
        ("ubicrawler", plain(Plan::Ubicrawler)),
        ("all-probe", plain(Plan::AllProbe)),
    ]
}

fn outcome(args: &Args, ground: &Ground, agents: usize, plan: Plan) -> Outcome {
    let base = match args.files.targets {
        Some(_) => DrawSettings { agents, subnets: args.subnets, ..DrawSettings::default() },
        None => DrawSettings::without_noise(agents, args.subnets),
    };
    let landmarks = if matches!(plan, Plan::Predictive { .. }) { landmarks::COUNT } else { 0 };
    let settings = DrawSettings { landmarks, ..base };
    let outcomes: Vec<Outcome> =
        (1..=args.seeds).map(|seed| replay(&Draw::new(ground, settings, seed), plan)).collect();
    mean_of(&outcomes)
}

fn line(agents: usize, strategy: &str, setting: &str, seen: &Outcome) -> String {
    format!(
        "{agents},{strategy},{setting},{:.4},{:.4},{:.3},{:.3},{:.3},{:.3},{:.0},{:.4},{:.4}\n",
        seen.optimal_share,
        seen.within_20ms_share,
        seen.excess_ms_mean,
        seen.excess_ms_p95,
        seen.probes_per_subnet,
        seen.probes_last_tenth,
        seen.landmark_probes,
        seen.crawl_time_ratio_to_random,
        seen.optimum_ratio_to_random,
    )
}

fn balance_report(args: &Args) -> anyhow::Result<()> {
    let mut table = String::from(
        "agents,subnets,largest_load,slack,seed,rule,ratio_to_bound,best_share,moves,overload,unplaced,cpu_ms\n",
    );
    let mut curves: Vec<Curve> = Vec::new();
    for largest_load in [1, 9] {
        for slack in [0.02, 0.05, 0.1, 0.2, 0.4] {
            let settings = MadeSettings {
                agents: 50,
                subnets: 5000,
                largest_load,
                slack,
                known: usize::MAX,
                seed: 1,
            };
            let instance = made(settings).context("cannot make an instance")?;
            let seen = contest(&instance, &BalanceRule::MOVING);
            for entry in &seen.entries {
                let ratio = entry.cost / seen.bound;
                let best = entry.best_share.map_or(String::new(), |share| format!("{share:.4}"));
                writeln!(
                    table,
                    "50,5000,{largest_load},{slack},1,{},{ratio:.5},{best},{},{},{},{:.0}",
                    entry.rule, entry.moves, entry.overload, entry.unplaced, entry.took.cpu_ms
                )?;
                let name = format!("{}, loads to {largest_load}", entry.rule);
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
        across: "room beyond the load".into(),
        up: "cost above the bound, as a share".into(),
        curves,
    };
    write(&args.out.join("balance.csv"), &table)?;
    write(&args.out.join("balance.svg"), &plot.svg())
}

fn calibration_report(args: &Args) -> anyhow::Result<()> {
    let mut table = String::from(
        "noise,repeats,seed,false_alarm_share,found_share,found_soon_share,fetches_to_find_mean,fetches_to_find_p99,\
         most_moves_a_day\n",
    );
    let mut curves = Vec::new();
    for repeats in [2, 3, 5] {
        let mut points = Vec::new();
        for noise in [0.05, 0.1, 0.15, 0.2, 0.25, 0.3] {
            let series = SeriesSettings { noise, ..SeriesSettings::default() };
            let days = Days { subnets: 200, pages: 10, fetches: 200, seed: 1 };
            let Calibration {
                false_alarm_share,
                found_share,
                found_soon_share,
                fetches_to_find_mean,
                fetches_to_find_p99,
                most_moves_a_day,
                ..
            } = calibration(series, Sensitivity { factor: 2.0, repeats }, days, 2.0);
            writeln!(
                table,
                "{noise},{repeats},1,{false_alarm_share:.6},{found_share:.4},{found_soon_share:.4},\
                 {fetches_to_find_mean:.2},{fetches_to_find_p99},{most_moves_a_day}"
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
        across: "noise of a fetch (lognormal sigma)".into(),
        up: "fetches until the report, mean".into(),
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
