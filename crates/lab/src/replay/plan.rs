//! Which strategy is replayed.

use crate::replay::outcome::{Decision, Outcome, judge};
use crate::replay::{Draw, predictive, threshold, unaware};

/// A way to hand subnets out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Plan {
    /// The paper's search with this threshold in milliseconds.
    Threshold {
        /// Good enough to stop.
        threshold_ms: f64,
    },
    /// Landmarks, and the likeliest first.
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

/// Hands out the draw's subnets one after the other and judges the result.
pub fn replay(draw: &Draw<'_>, plan: Plan) -> Outcome {
    let mut landmark_probes = 0;
    let decisions: Vec<Decision<'_>> = match plan {
        Plan::Threshold { threshold_ms } => threshold::run(draw, threshold_ms),
        Plan::Predictive { min_probability } => {
            let (decisions, probes) = predictive::run(draw, min_probability);
            landmark_probes = probes;
            decisions
        }
        Plan::Random => unaware::random(draw),
        Plan::Ubicrawler => unaware::ubicrawler(draw),
        Plan::AllProbe => unaware::all_probe(draw),
    };
    judge(draw, &decisions, landmark_probes)
}
