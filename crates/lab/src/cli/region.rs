//! Crawls of a link graph by a simulated region.

use std::path::PathBuf;

use anyhow::Context as _;
use lab::{CrawlOutcome, LinkGraph, Quality, RegionSettings, crawl};
use serde::Serialize;

use crate::cli::output;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Adjacency list, may be gzipped: line n holds the successors of page n
    #[arg(long, value_name = "FILE")]
    graph: PathBuf,
    /// How many agents
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u16).range(1..=1_000))]
    agents: u16,
    /// Next-nearest agents that know what was fetched: t of the paper
    #[arg(long, default_value_t = 1)]
    t: u8,
    /// Crashes, spread over the crawl
    #[arg(long, default_value_t = 0)]
    crashes: u16,
    /// A crash loses everything that the agent knew
    #[arg(long)]
    lose_disk: bool,
    /// Time until a crashed agent returns
    #[arg(long, default_value_t = 120, value_name = "SECONDS")]
    down_s: u32,
    /// Hosts into which the graph is cut
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..))]
    hosts: u32,
    /// Hosts that an agent visits at the same time
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..))]
    threads: u16,
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

/// The printed object: means over the seeds.
#[derive(Debug, Serialize)]
struct Report {
    pages: usize,
    agents: u16,
    t: u8,
    crashes: u16,
    lose_disk: bool,
    hosts: u32,
    threads: u16,
    seeds: u32,
    reachable: f64,
    coverage: f64,
    coverage_least: f64,
    overlap: f64,
    /// What the paper permits with this t: it predicts no further overlap.
    overlap_permitted: f64,
    communication_overhead: f64,
    links_to_others_per_page: f64,
    notices_per_page: f64,
    paper_questions_per_page: f64,
    messages_per_page: f64,
    bundles: f64,
    quality: Vec<Quality>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let graph = LinkGraph::read(&args.graph)
        .with_context(|| format!("{} is no link graph", args.graph.display()))?;
    let settings = RegionSettings {
        agents: usize::from(args.agents),
        recovery: args.t,
        crashes: usize::from(args.crashes),
        loses_disk: args.lose_disk,
        down_ms: u64::from(args.down_s) * 1_000,
        hosts: args.hosts as usize,
        threads: usize::from(args.threads),
    };
    let seeds = args.first_seed..args.first_seed + u64::from(args.seeds);
    let outcomes: Vec<CrawlOutcome> = seeds
        .map(|seed| crawl(&graph, settings, seed))
        .collect::<Result<_, _>>()
        .context("the agents form no region")?;
    output::print(&args.report(graph.len(), &outcomes), args.json)
}

impl Args {
    fn report(&self, pages: usize, outcomes: &[CrawlOutcome]) -> Report {
        let mean = |of: fn(&CrawlOutcome) -> f64| {
            outcomes.iter().map(of).sum::<f64>() / outcomes.len() as f64
        };
        Report {
            pages,
            agents: self.agents,
            t: self.t,
            crashes: self.crashes,
            lose_disk: self.lose_disk,
            hosts: self.hosts,
            threads: self.threads,
            seeds: self.seeds,
            reachable: mean(|outcome| outcome.reachable as f64),
            coverage: mean(|outcome| outcome.coverage),
            coverage_least: outcomes.iter().map(|outcome| outcome.coverage).fold(1.0, f64::min),
            overlap: mean(|outcome| outcome.overlap),
            overlap_permitted: mean(|outcome| outcome.overlap_permitted),
            communication_overhead: mean(|outcome| outcome.communication_overhead),
            links_to_others_per_page: mean(|outcome| outcome.links_to_others_per_page),
            notices_per_page: mean(|outcome| outcome.notices_per_page),
            paper_questions_per_page: mean(|outcome| outcome.paper_questions_per_page),
            messages_per_page: mean(|outcome| outcome.messages_per_page),
            bundles: mean(|outcome| outcome.bundles as f64),
            quality: mean_quality(outcomes),
        }
    }
}

/// Means of the in-degrees at each share of the crawl.
fn mean_quality(outcomes: &[CrawlOutcome]) -> Vec<Quality> {
    let Some(first) = outcomes.first() else { return Vec::new() };
    let count = outcomes.len() as f64;
    let mean = |(at, quality): (usize, &Quality)| Quality {
        share: quality.share,
        region: outcomes.iter().map(|of| of.quality[at].region).sum::<f64>() / count,
        breadth_first: outcomes.iter().map(|of| of.quality[at].breadth_first).sum::<f64>() / count,
    };
    first.quality.iter().enumerate().map(mean).collect()
}
