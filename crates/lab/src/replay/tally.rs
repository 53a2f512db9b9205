//! Figures of a replay.

use serde::{Deserialize, Serialize};

use super::searches::DecidedSearch;
use crate::{Scenario, Site};

/// Numbers of subnets after which figures are given.
const MARKS: [usize; 6] = [100, 300, 1_000, 3_000, 10_000, 30_000];

/// Figures of some consecutive subnets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct ReplayFigures {
    pub subnets: f64,
    /// Share of subnets whose agent has the smallest true time; 0 to 1.
    pub optimal_share: f64,
    /// Mean of true time above the best, in milliseconds.
    pub excess_ms_mean: f64,
    /// 95th percentile of the same.
    pub excess_ms_p95: f64,
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
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct ReplayMark {
    /// Since the start.
    #[serde(flatten)]
    pub cumulative: ReplayFigures,
    /// Since the mark before.
    pub window: ReplayFigures,
}

/// A delegated subnet; times in milliseconds.
#[derive(Debug)]
struct Judged {
    /// From the chosen agent.
    taken_ms: f64,
    /// From the nearest agent.
    best_ms: f64,
    /// From an agent drawn uniformly, on average.
    random_ms: f64,
    probes: f64,
}

impl Judged {
    fn of(scenario: &Scenario<'_>, site: Site, decided: &DecidedSearch<'_>) -> Self {
        let times: Vec<f64> =
            scenario.agents.iter().map(|agent| scenario.true_ms(agent, site)).collect();
        Self {
            taken_ms: scenario.true_ms(decided.agent, site),
            best_ms: times.iter().copied().fold(f64::INFINITY, f64::min),
            random_ms: times.iter().sum::<f64>() / times.len() as f64,
            probes: decided.probes as f64,
        }
    }

    fn excess_ms(&self) -> f64 {
        self.taken_ms - self.best_ms
    }
}

/// Judges the subnets of a replay in the order in which they are delegated.
#[derive(Debug)]
pub(super) struct Tally<'d> {
    scenario: &'d Scenario<'d>,
    home_probes: f64,
    judged: Vec<Judged>,
    /// Number of subnets at the last mark.
    marked: usize,
    marks: Vec<ReplayMark>,
}

impl<'d> Tally<'d> {
    pub(super) fn new(scenario: &'d Scenario<'d>, home_probes: u64) -> Self {
        let home_probes = home_probes as f64;
        Self { scenario, home_probes, judged: Vec::new(), marked: 0, marks: Vec::new() }
    }

    pub(super) fn add(&mut self, site: Site, decided: &DecidedSearch<'_>) {
        self.judged.push(Judged::of(self.scenario, site, decided));
        if MARKS.contains(&self.judged.len()) {
            self.mark();
        }
    }

    /// The figures at all marks and at the end.
    pub(super) fn finish(mut self) -> Vec<ReplayMark> {
        if self.judged.len() > self.marked {
            self.mark();
        }
        self.marks
    }

    fn mark(&mut self) {
        let window = self.figures(self.marked);
        self.marks.push(ReplayMark { cumulative: self.figures(0), window });
        self.marked = self.judged.len();
    }

    /// Figures of the subnets from this number on.
    fn figures(&self, from: usize) -> ReplayFigures {
        let judged = &self.judged[from..];
        let sum = |of: fn(&Judged) -> f64| judged.iter().map(of).sum::<f64>();
        let subnets = judged.len() as f64;
        let optimal = judged.iter().filter(|one| one.excess_ms() <= 0.0).count() as f64;
        let random_ms = sum(|one| one.random_ms);
        let search_probes = sum(|one| one.probes) / subnets;
        // Homes are measured before the first search.
        let home_probes = if from == 0 { self.home_probes / subnets } else { 0.0 };
        ReplayFigures {
            subnets,
            optimal_share: optimal / subnets,
            excess_ms_mean: sum(Judged::excess_ms) / subnets,
            excess_ms_p95: percentile(judged.iter().map(Judged::excess_ms).collect(), 0.95),
            crawl_time_ratio_to_random: sum(|one| one.taken_ms) / random_ms,
            optimum_ratio_to_random: sum(|one| one.best_ms) / random_ms,
            probes_per_subnet: search_probes + home_probes,
            search_probes,
            home_probes,
            weekly_probes_per_agent: self.home_probes / self.scenario.agents.len().max(1) as f64,
        }
    }
}

/// Nearest-rank percentile; 0 for nothing.
fn percentile(mut values: Vec<f64>, share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let rank = (values.len() as f64 * share).ceil() as usize;
    values.get(rank.max(1) - 1).copied().unwrap_or(0.0)
}
