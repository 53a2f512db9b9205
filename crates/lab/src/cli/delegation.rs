use std::ops::Range;

use anyhow::Context as _;
use clap::ValueEnum;
use lab::{
    Claims, Placement, ReplayFigures, ReplayMark, Scenario, ScenarioSettings, Strategy, Topology,
    mean, replay,
};
use serde::Serialize;

use crate::cli::files::{self, Files};
use crate::cli::output;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    files: Files,
    /// How many agents
    #[arg(long, default_value_t = 12, value_parser = clap::value_parser!(u32).range(1..))]
    agents: u32,
    /// Placement of the agents
    #[arg(long, value_enum, default_value_t = Placement::Worldwide)]
    placement: Placement,
    /// How many new subnets
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..))]
    subnets: u32,
    /// Only subnets in cities within this round trip of some agent [default: all]
    #[arg(long, value_name = "MS")]
    near_ms: Option<f64>,
    /// How subnets are delegated
    #[arg(long, value_enum, default_value_t = StrategyName::Threshold)]
    strategy: StrategyName,
    /// Round trip that is good enough to stop asking
    #[arg(long, default_value_t = 50.0, value_name = "MS")]
    threshold_ms: f64,
    /// Repeat with this many seeds and give the mean
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    seeds: u32,
    /// The first seed
    #[arg(long, default_value_t = 1)]
    first_seed: u64,
    #[command(flatten)]
    noise: NoiseArgs,
    /// What is known of the agents' positions, for the predictive search
    #[arg(long, value_enum, default_value_t = Claims::Corrected)]
    claims: Claims,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// Every replay begins with nothing and counts every probe; scripts of before say so
    #[arg(long = "live", hide = true)]
    _live: bool,
}

/// Noise on geolocated targets; a plain matrix has none unless these are given.
#[derive(Debug, clap::Args)]
struct NoiseArgs {
    /// Lognormal sigma of the route from an agent to a company [default with targets: 0.12]
    #[arg(long, value_name = "SIGMA")]
    route_sigma: Option<f64>,
    /// Median access time of a subnet [default with targets: 4]
    #[arg(long, value_name = "MS")]
    access_ms: Option<f64>,
    /// Lognormal sigma of the access time [default with targets: 0.8]
    #[arg(long, value_name = "SIGMA")]
    access_sigma: Option<f64>,
    /// Lognormal sigma of one probe [default with targets: 0.03]
    #[arg(long, value_name = "SIGMA")]
    probe_sigma: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
enum StrategyName {
    /// The paper's search: company, siblings, higher levels, stop at the threshold
    Threshold,
    /// The predictive search, by places
    #[value(alias = "places")]
    Predictive,
    /// An agent drawn uniformly
    Random,
    /// Consistent hashing without distances
    Ubicrawler,
    /// Every agent probes every subnet
    AllProbe,
}

/// The printed object: the figures of all subnets, then those at each mark.
#[derive(Debug, Serialize)]
struct Report {
    strategy: StrategyName,
    threshold_ms: f64,
    claims: Claims,
    agents: usize,
    placement: Placement,
    near_ms: Option<f64>,
    subnets_unmeasured: usize,
    seeds: u32,
    first_seed: u64,
    route_sigma: f64,
    access_ms: f64,
    access_sigma: f64,
    probe_sigma: f64,
    max_dist_km: u32,
    pairs_mirrored: usize,
    pairs_bridged: usize,
    pairs_unknown: usize,
    #[serde(flatten)]
    all: ReplayFigures,
    marks: Vec<ReplayMark>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let topology = args.files.topology()?;
    let settings = args.settings();
    let first = files::scenario(&topology, settings, args.first_seed)?;
    let seeds = args.first_seed..args.first_seed + u64::from(args.seeds);
    let marks = replayed(&topology, settings, args.strategy(), seeds)?;
    output::print(&args.report(&first, settings, marks)?, args.json)
}

/// The means over replays of some seeds.
pub(crate) fn replayed(
    topology: &Topology,
    settings: ScenarioSettings,
    strategy: Strategy,
    seeds: Range<u64>,
) -> anyhow::Result<Vec<ReplayMark>> {
    let run = |seed| anyhow::Ok(replay(&files::scenario(topology, settings, seed)?, strategy));
    let replays = seeds.map(run).collect::<anyhow::Result<Vec<_>>>()?;
    Ok(mean(&replays)?)
}

impl Args {
    fn strategy(&self) -> Strategy {
        match self.strategy {
            StrategyName::Threshold => Strategy::Threshold { threshold_ms: self.threshold_ms },
            StrategyName::Predictive => Strategy::Predictive(self.claims),
            StrategyName::Random => Strategy::Random,
            StrategyName::Ubicrawler => Strategy::Ubicrawler,
            StrategyName::AllProbe => Strategy::AllProbe,
        }
    }

    fn settings(&self) -> ScenarioSettings {
        let base = self.files.settings(self.agents as usize, self.subnets as usize);
        ScenarioSettings {
            placement: self.placement,
            near_ms: self.near_ms.unwrap_or(base.near_ms),
            route_sigma: self.noise.route_sigma.unwrap_or(base.route_sigma),
            access_median_ms: self.noise.access_ms.unwrap_or(base.access_median_ms),
            access_sigma: self.noise.access_sigma.unwrap_or(base.access_sigma),
            probe_sigma: self.noise.probe_sigma.unwrap_or(base.probe_sigma),
            ..base
        }
    }

    fn report(
        &self,
        scenario: &Scenario<'_>,
        settings: ScenarioSettings,
        marks: Vec<ReplayMark>,
    ) -> anyhow::Result<Report> {
        let gaps = scenario.topology.world.gaps();
        Ok(Report {
            strategy: self.strategy,
            threshold_ms: self.threshold_ms,
            claims: self.claims,
            agents: scenario.agents.len(),
            placement: self.placement,
            near_ms: self.near_ms,
            subnets_unmeasured: scenario.unmeasured,
            seeds: self.seeds,
            first_seed: self.first_seed,
            route_sigma: settings.route_sigma,
            access_ms: settings.access_median_ms,
            access_sigma: settings.access_sigma,
            probe_sigma: settings.probe_sigma,
            max_dist_km: self.files.max_dist_km,
            pairs_mirrored: gaps.mirrored,
            pairs_bridged: gaps.bridged,
            pairs_unknown: gaps.unknown,
            all: marks.last().map(|last| last.cumulative).context("no subnet was delegated")?,
            marks,
        })
    }
}
