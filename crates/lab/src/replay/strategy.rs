//! Strategies that are compared.

use crate::replay::outcome::{Decision, Outcome, judge};
use crate::replay::{Scenario, baselines, predictive, threshold};

/// How subnets are delegated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Strategy {
    /// The paper's search with this threshold in milliseconds.
    Threshold {
        /// Round trip that is good enough to stop.
        threshold_ms: f64,
    },
    /// The predictive search.
    Predictive {
        /// An agent is asked when it is nearer with at least this probability.
        min_probability: f64,
    },
    /// An agent drawn uniformly.
    Random,
    /// Consistent hashing of the host, as UbiCrawler does: no distances.
    Ubicrawler,
    /// Every agent probes every subnet, the fastest gets it (the paper's section II).
    AllProbe,
}

/// Delegates the scenario's subnets one after the other and judges the result.
pub fn replay(scenario: &Scenario<'_>, strategy: Strategy) -> Outcome {
    let mut landmark_probes = 0;
    let decisions: Vec<Decision<'_>> = match strategy {
        Strategy::Threshold { threshold_ms } => threshold::run(scenario, threshold_ms),
        Strategy::Predictive { min_probability } => {
            let (decisions, probes) = predictive::run(scenario, min_probability);
            landmark_probes = probes;
            decisions
        }
        Strategy::Random => baselines::random(scenario),
        Strategy::Ubicrawler => baselines::ubicrawler(scenario),
        Strategy::AllProbe => baselines::all_probe(scenario),
    };
    judge(scenario, &decisions, landmark_probes)
}
