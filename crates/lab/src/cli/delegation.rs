use anyhow::{Context as _, bail};
use clap::ValueEnum;
use lab::{
    Claims, LiveFigures, LivePoint, LiveStrategy, Outcome, Placement, Scenario, ScenarioSettings,
    Strategy, Topology, mean_of, mean_of_points, replay, replay_live,
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
    #[arg(long, value_enum, default_value_t = Spread::Worldwide)]
    placement: Spread,
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
    /// Begin with nothing, as a coordinator does, and count every probe
    #[arg(long)]
    live: bool,
    /// What is known of the agents' positions, for the predictive search
    #[arg(long, value_enum, default_value_t = ClaimsName::Corrected, requires = "live")]
    claims: ClaimsName,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum StrategyName {
    /// The paper's search: company, siblings, higher levels, stop at the threshold
    Threshold,
    /// The predictive search, by places; only in a live replay, because it learns
    #[value(alias = "places")]
    Predictive,
    Random,
    /// Consistent hashing without distances
    Ubicrawler,
    /// Every agent probes every subnet
    AllProbe,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Spread {
    /// In turn from each registry's region
    Worldwide,
    /// Cities drawn uniformly
    Uniform,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ClaimsName {
    /// Agents are in their cities; wrong positions of the list of 2018 are corrected
    Corrected,
    /// Agents are in their cities, wrong positions included
    AsListed,
    /// Nobody knows where the agents are
    Unknown,
}

/// The printed object.
#[derive(Debug, Serialize)]
struct Report {
    strategy: String,
    threshold_ms: f64,
    agents: usize,
    placement: String,
    near_ms: Option<f64>,
    subnets: usize,
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
    optimal_share: f64,
    within_20ms_share: f64,
    excess_ms_mean: f64,
    excess_ms_p95: f64,
    probes_per_subnet: f64,
    probes_last_tenth: f64,
    crawl_time_ratio_to_random: f64,
    optimum_ratio_to_random: f64,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let topology = args.files.topology()?;
    if args.live {
        return run_live(args, &topology);
    }
    let settings = args.settings();
    let strategy = args.strategy()?;
    let mut outcomes = Vec::new();
    let mut last = None;
    for scenario in args.scenarios(&topology, settings) {
        let scenario = scenario?;
        outcomes.push(replay(&scenario, strategy));
        last = Some(scenario);
    }
    let last = last.context("there is no seed")?;
    output::print(&args.report(&last, settings, &mean_of(&outcomes)), args.json)
}

/// The printed object of a live replay: the figures of all subnets, then those at each mark.
#[derive(Debug, Serialize)]
struct LiveReport {
    strategy: String,
    claims: String,
    agents: u32,
    placement: String,
    subnets_unmeasured: usize,
    seeds: u32,
    first_seed: u64,
    route_sigma: f64,
    access_ms: f64,
    #[serde(flatten)]
    all: LiveFigures,
    marks: Vec<LivePoint>,
}

fn run_live(args: &Args, topology: &Topology) -> anyhow::Result<()> {
    let settings = args.settings();
    let strategy = args.live_strategy()?;
    let mut replays = Vec::new();
    let mut subnets_unmeasured = 0;
    for scenario in args.scenarios(topology, settings) {
        let scenario = scenario?;
        replays.push(replay_live(&scenario, strategy));
        subnets_unmeasured = scenario.unmeasured;
    }
    let marks = mean_of_points(&replays);
    let all = marks.last().map(|last| last.cumulative).context("no subnet was delegated")?;
    let report = LiveReport {
        strategy: word(&args.strategy),
        claims: word(&args.claims),
        agents: args.agents,
        placement: word(&args.placement),
        subnets_unmeasured,
        seeds: args.seeds,
        first_seed: args.first_seed,
        route_sigma: settings.route_sigma,
        access_ms: settings.access_median_ms,
        all,
        marks,
    };
    output::print(&report, args.json)
}

impl Args {
    /// A scenario for each seed.
    fn scenarios<'t>(
        &self,
        topology: &'t Topology,
        settings: ScenarioSettings,
    ) -> impl Iterator<Item = anyhow::Result<Scenario<'t>>> + use<'t> {
        let seeds = self.first_seed..self.first_seed + u64::from(self.seeds);
        seeds.map(move |seed| files::scenario(topology, settings, seed))
    }

    fn live_strategy(&self) -> anyhow::Result<LiveStrategy> {
        let claims = match self.claims {
            ClaimsName::Corrected => Claims::Corrected,
            ClaimsName::AsListed => Claims::AsListed,
            ClaimsName::Unknown => Claims::Unknown,
        };
        match self.strategy {
            StrategyName::Threshold => {
                Ok(LiveStrategy::Threshold { threshold_ms: self.threshold_ms })
            }
            StrategyName::Predictive => Ok(LiveStrategy::Places(claims)),
            StrategyName::AllProbe => Ok(LiveStrategy::AllProbe),
            StrategyName::Random | StrategyName::Ubicrawler => {
                bail!("--live has no strategy {}: it measures nothing", word(&self.strategy))
            }
        }
    }

    fn strategy(&self) -> anyhow::Result<Strategy> {
        let strategy = match self.strategy {
            StrategyName::Threshold => Strategy::Threshold { threshold_ms: self.threshold_ms },
            StrategyName::Random => Strategy::Random,
            StrategyName::Ubicrawler => Strategy::Ubicrawler,
            StrategyName::AllProbe => Strategy::AllProbe,
            StrategyName::Predictive => {
                bail!("--strategy predictive needs --live, because it learns")
            }
        };
        Ok(strategy)
    }

    fn settings(&self) -> ScenarioSettings {
        let agents = self.agents as usize;
        let subnets = self.subnets as usize;
        let base = match self.files.targets {
            Some(_) => ScenarioSettings { agents, subnets, ..ScenarioSettings::default() },
            None => ScenarioSettings::without_noise(agents, subnets),
        };
        let placement = match self.placement {
            Spread::Worldwide => Placement::Worldwide,
            Spread::Uniform => Placement::Uniform,
        };
        ScenarioSettings {
            placement,
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
        outcome: &Outcome,
    ) -> Report {
        let gaps = scenario.topology.world.gaps();
        Report {
            strategy: word(&self.strategy),
            threshold_ms: self.threshold_ms,
            agents: scenario.agents.len(),
            placement: word(&self.placement),
            near_ms: self.near_ms,
            subnets: scenario.sites.len(),
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
            optimal_share: outcome.optimal_share,
            within_20ms_share: outcome.within_20ms_share,
            excess_ms_mean: outcome.excess_ms_mean,
            excess_ms_p95: outcome.excess_ms_p95,
            probes_per_subnet: outcome.probes_per_subnet,
            probes_last_tenth: outcome.probes_last_tenth,
            crawl_time_ratio_to_random: outcome.crawl_time_ratio_to_random,
            optimum_ratio_to_random: outcome.optimum_ratio_to_random,
        }
    }
}

/// A choice as it is written on the command line.
fn word(choice: &impl ValueEnum) -> String {
    choice.to_possible_value().map_or_else(String::new, |word| word.get_name().to_owned())
}
