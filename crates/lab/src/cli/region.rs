//! Crawls of a link graph by a simulated region.

use std::path::PathBuf;

use anyhow::Context as _;
use lab::{CrawlOutcome, LinkGraph, RegionSettings, crawl, mean};
use serde::Serialize;

use crate::cli::output;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Adjacency list, may be gzipped: line n holds the successors of page n
    #[arg(long, value_name = "FILE")]
    graph: PathBuf,
    #[command(flatten)]
    settings: RegionSettings,
    /// How many repetitions
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    seeds: u32,
    /// The first seed
    #[arg(long, default_value_t = 1)]
    first_seed: u64,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// The printed object.
#[derive(Debug, Serialize)]
struct Report {
    pages: usize,
    #[serde(flatten)]
    settings: RegionSettings,
    seeds: u32,
    coverage_least: f64,
    /// Means over the seeds of the figures of a crawl.
    #[serde(flatten)]
    mean: serde_json::Value,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let graph = LinkGraph::read(&args.graph)
        .with_context(|| format!("{} is no link graph", args.graph.display()))?;
    let seeds = args.first_seed..args.first_seed + u64::from(args.seeds);
    let outcomes: Vec<CrawlOutcome> = seeds
        .map(|seed| crawl(&graph, args.settings, seed))
        .collect::<Result<_, _>>()
        .context("the agents form no region")?;
    let report = Report {
        pages: graph.len(),
        settings: args.settings,
        seeds: args.seeds,
        coverage_least: outcomes.iter().map(|outcome| outcome.coverage).fold(1.0, f64::min),
        mean: mean(&outcomes)?,
    };
    output::print(&report, args.json)
}
