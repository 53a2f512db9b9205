//! Baseline of the path to one subnet: the usual round trip of the agent that crawls it.

use model::{Slowdown, UnixMillis};
use serde::{Deserialize, Serialize};

/// A round trip compared with the baseline.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PathComparison {
    /// Too few round trips to compare with.
    Learning,
    /// The path is as usual.
    Usual,
    /// The path seems slower; further round trips decide.
    Suspect,
    /// The path is slower. Repeated until the baseline begins again.
    Slower {
        /// Recent round trip over the usual one.
        ratio: f64,
    },
}

/// Running statistics of the round trips from one agent to one subnet, of fetches and of checks.
///
/// Round trips are compared by their logarithms, since noise is proportional. As for pages
/// ([`super::Baseline`]), the evidence of a slowdown is summed as in Page's test. A suspicion costs
/// only some checks, so that more evidence than for pages is asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct PathBaseline {
    /// Round trips that count in the mean.
    round_trips: u32,
    /// Time of the first of them.
    first_at: Option<UnixMillis>,
    /// Mean logarithm of a round trip in milliseconds.
    mean: f64,
    /// Mean squared deviation from it.
    variance: f64,
    /// Slow round trips in a row, and when they began.
    slow_in_a_row: u32,
    slow_since: Option<UnixMillis>,
    /// Logarithm of the likelihood of a slowdown over that of none, never below 0.
    evidence: f64,
    /// Sum of the logarithmic ratios of the slow round trips in a row.
    excess: f64,
}

const HOUR_MS: u64 = 3_600_000;
/// The same, for times that are added.
const HOUR: i64 = 3_600_000;
/// Round trips before the first comparison.
const MIN_ROUND_TRIPS: u32 = 8;
/// Time that they cover at least: the baseline contains busy and quiet hours.
const MIN_LEARNING_MS: u64 = 36 * HOUR_MS;
/// Least standard deviation of the logarithm.
const MIN_SIGMA: f64 = 0.2;
/// Weight of a new round trip in mean and variance, once there are many.
const GAIN: f64 = 0.04;
/// Evidence of a single round trip.
const MAX_EVIDENCE: f64 = 5.0;
/// Evidence from which checks decide soon.
const SUSPECT_EVIDENCE: f64 = 3.0;
/// Evidence for an incident.
const SLOWER_EVIDENCE: f64 = 16.0;
/// Slow round trips in a row for an incident, at least.
const MIN_SLOW: u32 = 5;
/// Time that they cover at least: shorter congestion moves nothing.
const MIN_SLOW_MS: u64 = 3 * HOUR_MS;

/// After this time without a round trip, the path is checked.
const CHECK_USUAL_MS: i64 = 67 * HOUR;
/// The same while the baseline is learned.
const CHECK_LEARNING_MS: i64 = 17 * HOUR;
/// The same under suspicion.
const CHECK_SUSPECT_MS: i64 = HOUR;

impl PathComparison {
    /// When the path is checked if no fetch brings a round trip before.
    pub fn next_check(self, at: UnixMillis) -> UnixMillis {
        at.plus_ms(match self {
            Self::Learning => CHECK_LEARNING_MS,
            Self::Usual => CHECK_USUAL_MS,
            Self::Suspect | Self::Slower { .. } => CHECK_SUSPECT_MS,
        })
    }
}

impl PathBaseline {
    /// Compares a round trip with the baseline, then updates the baseline.
    pub fn observe(&mut self, slowdown: Slowdown, rtt_us: u32, at: UnixMillis) -> PathComparison {
        let log_ms = (f64::from(rtt_us.max(10)) / 1_000.0).ln();
        let change = slowdown.factor().max(1.01).ln();
        if !self.is_known(at) {
            self.learn_first(log_ms, at);
            return PathComparison::Learning;
        }
        let ratio = log_ms - self.mean;
        let variance = self.variance.max(MIN_SIGMA * MIN_SIGMA);
        // Evidence of a normal variable for a mean of `change` against a mean of 0.
        let evidence =
            ((ratio - change / 2.0) * change / variance).clamp(-MAX_EVIDENCE, MAX_EVIDENCE);
        self.evidence = (self.evidence + evidence).max(0.0);
        if ratio < change / 2.0 {
            self.slow_in_a_row = 0;
            self.slow_since = None;
            self.excess = 0.0;
            self.learn(log_ms);
        } else {
            self.slow_in_a_row = self.slow_in_a_row.saturating_add(1);
            self.slow_since.get_or_insert(at);
            self.excess += ratio;
        }
        self.comparison(slowdown, at)
    }

    /// Whether no round trip has come yet.
    pub fn is_empty(&self) -> bool {
        self.round_trips == 0
    }

    /// Whether there are enough round trips, over long enough a time, to compare with.
    pub fn is_known(&self, at: UnixMillis) -> bool {
        let covers = self.first_at.is_some_and(|first| at.distance_ms(first) >= MIN_LEARNING_MS);
        self.round_trips >= MIN_ROUND_TRIPS && covers
    }

    fn comparison(&self, slowdown: Slowdown, at: UnixMillis) -> PathComparison {
        let lasts = self.slow_since.is_some_and(|since| at.distance_ms(since) >= MIN_SLOW_MS);
        let repeats = slowdown.repeats.max(MIN_SLOW);
        if lasts && self.slow_in_a_row >= repeats && self.evidence >= SLOWER_EVIDENCE {
            let ratio = (self.excess / f64::from(self.slow_in_a_row)).exp();
            PathComparison::Slower { ratio }
        } else if self.evidence >= SUSPECT_EVIDENCE {
            PathComparison::Suspect
        } else {
            PathComparison::Usual
        }
    }

    /// The first round trips may be outliers themselves, so that their influence is bounded.
    fn learn_first(&mut self, log_ms: f64, at: UnixMillis) {
        self.first_at.get_or_insert(at);
        if self.round_trips == 0 {
            self.mean = log_ms;
        }
        self.learn(log_ms.clamp(self.mean - 0.7, self.mean + 0.7));
    }

    fn learn(&mut self, log_ms: f64) {
        self.round_trips = self.round_trips.saturating_add(1);
        // The first round trips count as an average, later ones with a fixed weight.
        let gain = GAIN.max(1.0 / f64::from(self.round_trips));
        let deviation = log_ms - self.mean;
        self.mean += gain * deviation;
        self.variance += gain * (deviation * deviation - self.variance);
    }
}
