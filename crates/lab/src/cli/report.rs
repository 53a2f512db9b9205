//! `lab report`: the table and the plot of the delegation experiment in docs/benchmarks.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use lab::{Claims, ReplayFigures, Strategy, Topology};

use crate::cli::delegation::replayed;
use crate::cli::files::Files;
use crate::cli::plot::{Point, Reached, svg};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    files: Files,
    /// Folder for the CSV and SVG files
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Written into the plot
    #[arg(long, value_name = "YYYY-MM-DD")]
    date: String,
    /// Numbers of agents
    #[arg(long, value_delimiter = ',', default_values_t = [4, 12, 50, 100])]
    agents: Vec<usize>,
    /// New subnets in each scenario
    #[arg(long, default_value_t = 1000)]
    subnets: usize,
    /// Repeat with this many seeds and give the mean
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    seeds: u32,
    /// The first seed
    #[arg(long, default_value_t = 1)]
    first_seed: u64,
}

const THRESHOLDS_MS: [f64; 5] = [200.0, 100.0, 50.0, 20.0, 10.0];

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    fs::create_dir_all(&args.out).with_context(|| format!("cannot make {}", args.out.display()))?;
    let topology = args.files.topology()?;
    let mut table = String::from(
        "agents,strategy,optimal_share,excess_ms_mean,excess_ms_p95,probes_per_subnet,\
         search_probes,crawl_time_ratio_to_random,optimum_ratio_to_random\n",
    );
    let mut reached = Vec::new();
    for agents in &args.agents {
        reached.push(args.reached(&topology, *agents, &mut table)?);
    }
    let title = format!(
        "Optimal delegations against probes from a cold start ({} subnets, {} seeds, {})",
        args.subnets, args.seeds, args.date
    );
    write(&args.out.join("delegation.csv"), &table)?;
    write(&args.out.join("delegation.svg"), &svg(&title, &reached))
}

impl Args {
    /// Replays all strategies with so many agents and adds their lines to the table.
    fn reached(
        &self,
        topology: &Topology,
        agents: usize,
        table: &mut String,
    ) -> anyhow::Result<Reached> {
        let settings = self.files.settings(agents, self.subnets);
        let seeds = self.first_seed..self.first_seed + u64::from(self.seeds);
        let mut point = |name: &str, strategy| -> anyhow::Result<Point> {
            let marks = replayed(topology, settings, strategy, seeds.clone())?;
            let figures = marks.last().context("no subnet was delegated")?.cumulative;
            *table += &line(agents, name, &figures);
            Ok((figures.probes_per_subnet, figures.optimal_share))
        };
        let predictive = point("predictive", Strategy::Predictive(Claims::Corrected))?;
        let mut threshold = Vec::new();
        for threshold_ms in THRESHOLDS_MS {
            let name = format!("threshold {threshold_ms} ms");
            threshold.push(point(&name, Strategy::Threshold { threshold_ms })?);
        }
        let all_probe = point("all-probe", Strategy::AllProbe)?;
        // Nobody is asked: this has no place on a logarithmic scale.
        point("random", Strategy::Random)?;
        Ok(Reached { agents, predictive, threshold, all_probe })
    }
}

fn line(agents: usize, strategy: &str, figures: &ReplayFigures) -> String {
    format!(
        "{agents},{strategy},{:.4},{:.3},{:.3},{:.3},{:.3},{:.4},{:.4}\n",
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
