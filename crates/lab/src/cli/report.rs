//! `lab report`: the table and the plot of the delegation experiment in docs/benchmarks.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use lab::{Curve, Plot, ReplayFigures, Strategy};

use crate::cli::delegation::replayed;
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
        "agents,strategy,setting,optimal_share,excess_ms_mean,excess_ms_p95,probes_per_subnet,\
         search_probes,crawl_time_ratio_to_random,optimum_ratio_to_random\n",
    );
    let mut curves = Vec::new();
    for agents in &args.agents {
        for (name, settings) in strategies() {
            let mut points = Vec::new();
            for (setting, strategy) in settings {
                let scenario = args.files.settings(*agents, args.subnets);
                let marks = replayed(&topology, scenario, strategy, 1..args.seeds + 1)?;
                let figures = marks.last().context("no subnet was delegated")?.cumulative;
                table.push_str(&line(*agents, name, &setting, &figures));
                points.push((figures.probes_per_subnet, figures.optimal_share));
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

fn line(agents: usize, strategy: &str, setting: &str, figures: &ReplayFigures) -> String {
    format!(
        "{agents},{strategy},{setting},{:.4},{:.3},{:.3},{:.3},{:.3},{:.4},{:.4}\n",
        figures.optimal_share,
        figures.excess_ms_mean,
        figures.excess_ms_p95,
        figures.probes_per_subnet,
        figures.search_probes,
        figures.crawl_time_ratio_to_random,
        figures.optimum_ratio_to_random,
    )
}

fn write(file: &Path, text: &str) -> anyhow::Result<()> {
    fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))?;
    eprintln!("wrote {}", file.display());
    Ok(())
}
