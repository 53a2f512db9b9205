//! The numbers of one replay.

use crate::{PlacedAgent, Scenario, Site};

/// What a strategy reached, over all subnets of a scenario.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Outcome {
    /// Share of subnets whose agent has the smallest true time; 0 to 1.
    pub optimal_share: f64,
    /// Share of subnets whose agent is at most 20 ms worse than the best.
    pub within_20ms_share: f64,
    /// Mean of true time above the best, in milliseconds.
    pub excess_ms_mean: f64,
    /// 95th percentile of the same.
    pub excess_ms_p95: f64,
    /// Probes asked of agents, per subnet.
    pub probes_per_subnet: f64,
    /// The same over the last tenth of the subnets.
    pub probes_last_tenth: f64,
    /// Sum of true times of the chosen agents over that of agents drawn uniformly.
    pub crawl_time_ratio_to_random: f64,
    /// The same for the best agents: no strategy is below.
    pub optimum_ratio_to_random: f64,
}

/// What was decided for one site.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Decision<'d> {
    pub(crate) site: Site,
    pub(crate) agent: &'d PlacedAgent,
    pub(crate) probes: usize,
}

/// Judges decisions in the order in which they were made.
pub(crate) fn judge(scenario: &Scenario<'_>, decisions: &[Decision<'_>]) -> Outcome {
    let truths: Vec<Truth> = decisions
        .iter()
        .map(|decision| Truth::of(scenario, decision.agent, decision.site))
        .collect();
    let sum = |of: fn(&Truth) -> f64| truths.iter().map(of).sum::<f64>();
    let share = |limit_ms: f64| {
        truths.iter().filter(|truth| truth.excess_ms() <= limit_ms).count() as f64
            / truths.len().max(1) as f64
    };
    let last = &decisions[decisions.len() - decisions.len().div_ceil(10)..];
    Outcome {
        optimal_share: share(0.0),
        within_20ms_share: share(20.0),
        excess_ms_mean: sum(Truth::excess_ms) / truths.len().max(1) as f64,
        excess_ms_p95: percentile(truths.iter().map(Truth::excess_ms).collect(), 0.95),
        probes_per_subnet: probes(decisions),
        probes_last_tenth: probes(last),
        crawl_time_ratio_to_random: sum(|truth| truth.taken) / sum(|truth| truth.random),
        optimum_ratio_to_random: sum(|truth| truth.best) / sum(|truth| truth.random),
    }
}

/// The mean of each number over several scenarios.
pub fn mean_of(outcomes: &[Outcome]) -> Outcome {
    let mean = |of: fn(&Outcome) -> f64| {
        outcomes.iter().map(of).sum::<f64>() / outcomes.len().max(1) as f64
    };
    Outcome {
        optimal_share: mean(|outcome| outcome.optimal_share),
        within_20ms_share: mean(|outcome| outcome.within_20ms_share),
        excess_ms_mean: mean(|outcome| outcome.excess_ms_mean),
        excess_ms_p95: mean(|outcome| outcome.excess_ms_p95),
        probes_per_subnet: mean(|outcome| outcome.probes_per_subnet),
        probes_last_tenth: mean(|outcome| outcome.probes_last_tenth),
        crawl_time_ratio_to_random: mean(|outcome| outcome.crawl_time_ratio_to_random),
        optimum_ratio_to_random: mean(|outcome| outcome.optimum_ratio_to_random),
    }
}

/// Times of one site, in milliseconds.
pub(crate) struct Truth {
    /// From the chosen agent.
    pub(crate) taken: f64,
    /// From the nearest agent.
    pub(crate) best: f64,
    /// From an agent drawn uniformly, on average.
    pub(crate) random: f64,
}

impl Truth {
    pub(crate) fn of(scenario: &Scenario<'_>, chosen: &PlacedAgent, site: Site) -> Self {
        let times: Vec<f64> =
            scenario.agents.iter().map(|agent| scenario.true_ms(agent, site)).collect();
        Self {
            taken: scenario.true_ms(chosen, site),
            best: times.iter().copied().fold(f64::INFINITY, f64::min),
            random: times.iter().sum::<f64>() / times.len() as f64,
        }
    }

    pub(crate) fn excess_ms(&self) -> f64 {
        self.taken - self.best
    }
}

fn probes(decisions: &[Decision<'_>]) -> f64 {
    decisions.iter().map(|decision| decision.probes).sum::<usize>() as f64
        / decisions.len().max(1) as f64
}

/// Nearest-rank percentile; 0 for nothing.
fn percentile(mut values: Vec<f64>, share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let rank = (values.len() as f64 * share).ceil() as usize;
    values.get(rank.max(1) - 1).copied().unwrap_or(0.0)
}
