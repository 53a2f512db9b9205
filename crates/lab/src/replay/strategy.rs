//! Strategies that are compared, without those that learn.

use crate::replay::outcome::{Decision, Outcome, judge};
use crate::replay::{Scenario, baselines, threshold};

/// How subnets are delegated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Strategy {
    /// The paper's search with this threshold in milliseconds.
    Threshold {
        /// Round trip that is good enough to stop.
        threshold_ms: f64,
    },
    /// An agent drawn uniformly.
    Random,
    /// Consistent hashing of the host, as UbiCrawler does: no distances.
    Ubicrawler,
    /// Every agent probes every subnet, the fastest gets it (the paper's section II).
    AllProbe,
}

/// Delegates the scenario's subnets one after the other and judges the result. Prediction, which
/// learns, has replays of its own ([`crate::replay_live`]).
pub fn replay(scenario: &Scenario<'_>, strategy: Strategy) -> Outcome {
    let decisions: Vec<Decision<'_>> = match strategy {
        Strategy::Threshold { threshold_ms } => threshold::run(scenario, threshold_ms),
        Strategy::Random => baselines::random(scenario),
        Strategy::Ubicrawler => baselines::ubicrawler(scenario),
        Strategy::AllProbe => baselines::all_probe(scenario),
    };
    judge(scenario, &decisions)
}
