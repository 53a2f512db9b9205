//! Sums over the subnets of a live replay.

use serde::Serialize;

use super::DecidedSearch;
use crate::replay::outcome::Truth;
use crate::{Scenario, Site};

/// Numbers of subnets after which figures are given.
const MARKS: [u64; 6] = [100, 300, 1_000, 3_000, 10_000, 30_000];

/// Figures of some consecutive subnets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct LiveFigures {
    pub subnets: f64,
    /// Share of subnets whose agent has the smallest true time; 0 to 1.
    pub optimal_share: f64,
    /// Mean of true time above the best, in milliseconds.
    pub excess_ms_mean: f64,
    /// Sum of true times of the chosen agents over that of agents drawn uniformly.
    pub crawl_time_ratio_to_random: f64,
    /// The same for the best agents: no strategy is below.
    pub optimum_ratio_to_random: f64,
    /// All probes per subnet: of searches, and of the agents' homes at joining.
    pub probes_per_subnet: f64,
    /// Probes of searches per subnet.
    pub search_probes: f64,
    /// Probes of the agents' homes at joining, per subnet.
    pub home_probes: f64,
    /// Probes of homes that each agent repeats every week. They are not among the others, because
    /// subnets are not counted by weeks.
    pub weekly_probes_per_agent: f64,
}

/// Figures at a mark.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct LivePoint {
    /// Since the start.
    #[serde(flatten)]
    pub cumulative: LiveFigures,
    /// Since the mark before.
    pub window: LiveFigures,
}

#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    subnets: u64,
    optimal: u64,
    excess_ms: f64,
    taken_ms: f64,
    best_ms: f64,
    random_ms: f64,
    search: u64,
    homes: u64,
    agents: usize,
}

/// Sums since the start and at the last mark.
#[derive(Debug, Default)]
pub(super) struct Tally {
    all: Sums,
    at_mark: Sums,
    points: Vec<LivePoint>,
}

impl Tally {
    pub(super) fn add(
        &mut self,
        scenario: &Scenario<'_>,
        site: Site,
        decided: &DecidedSearch<'_>,
        homes: u64,
    ) {
        let truth = Truth::of(scenario, decided.agent, site);
        self.all.subnets += 1;
        self.all.optimal += u64::from(truth.excess_ms() <= 0.0);
        self.all.excess_ms += truth.excess_ms();
        self.all.taken_ms += truth.taken;
        self.all.best_ms += truth.best;
        self.all.random_ms += truth.random;
        self.all.search += decided.probes as u64;
        self.all.homes = homes;
        self.all.agents = scenario.agents.len();
        if MARKS.contains(&self.all.subnets) {
            self.mark();
        }
    }

    /// The figures at all marks and at the end.
    pub(super) fn finish(mut self) -> Vec<LivePoint> {
        if self.all.subnets > self.at_mark.subnets {
            self.mark();
        }
        self.points
    }

    fn mark(&mut self) {
        let cumulative = self.all.since(Sums::default());
        let window = self.all.since(self.at_mark);
        self.points.push(LivePoint { cumulative, window });
        self.at_mark = self.all;
    }
}

impl Sums {
    fn since(self, before: Sums) -> LiveFigures {
        let subnets = (self.subnets - before.subnets) as f64;
        let per_subnet = |now: u64, before: u64| (now - before) as f64 / subnets;
        let search_probes = per_subnet(self.search, before.search);
        let home_probes = per_subnet(self.homes, before.homes);
        let random_ms = self.random_ms - before.random_ms;
        LiveFigures {
            subnets,
            optimal_share: per_subnet(self.optimal, before.optimal),
            excess_ms_mean: (self.excess_ms - before.excess_ms) / subnets,
            crawl_time_ratio_to_random: (self.taken_ms - before.taken_ms) / random_ms,
            optimum_ratio_to_random: (self.best_ms - before.best_ms) / random_ms,
            probes_per_subnet: search_probes + home_probes,
            search_probes,
            home_probes,
            weekly_probes_per_agent: self.homes as f64 / self.agents.max(1) as f64,
        }
    }
}

/// The mean of each figure over several replays, mark by mark; marks that not all replays reached
/// are left out.
pub fn mean_of_points(replays: &[Vec<LivePoint>]) -> Vec<LivePoint> {
    let marks = replays.iter().map(Vec::len).min().unwrap_or(0);
    let mean_at = |mark: usize| {
        let of = |figures: fn(&LivePoint) -> &LiveFigures| {
            let at = replays.iter().map(move |points| *figures(&points[mark]));
            mean_of_figures(&at.collect::<Vec<_>>())
        };
        LivePoint { cumulative: of(|point| &point.cumulative), window: of(|point| &point.window) }
    };
    (0..marks).map(mean_at).collect()
}

fn mean_of_figures(all: &[LiveFigures]) -> LiveFigures {
    let mean = |of: fn(&LiveFigures) -> f64| all.iter().map(of).sum::<f64>() / all.len() as f64;
    LiveFigures {
        subnets: mean(|figures| figures.subnets),
        optimal_share: mean(|figures| figures.optimal_share),
        excess_ms_mean: mean(|figures| figures.excess_ms_mean),
        crawl_time_ratio_to_random: mean(|figures| figures.crawl_time_ratio_to_random),
        optimum_ratio_to_random: mean(|figures| figures.optimum_ratio_to_random),
        probes_per_subnet: mean(|figures| figures.probes_per_subnet),
        search_probes: mean(|figures| figures.search_probes),
        home_probes: mean(|figures| figures.home_probes),
        weekly_probes_per_agent: mean(|figures| figures.weekly_probes_per_agent),
    }
}
