//! One page's past.

use serde::{Deserialize, Serialize};

use super::regression::Regression;

/// What the administrator decides.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Sensitivity {
    /// How many times slower is too slow; above 1.
    pub factor: f64,
    /// How often in a row it must be slow; at least 1.
    pub repeats: u32,
}

impl Default for Sensitivity {
    fn default() -> Self {
        Self { factor: 2.0, repeats: 3 }
    }
}

/// One timed GET or HEAD.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Timing {
    /// From sending the request to the end of the answer, in milliseconds.
    pub ms: f64,
    /// Bytes of the answer on the wire.
    pub bytes: u64,
}

/// What a timing says about the page.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Comparison {
    /// Too few timings to compare with.
    Learning,
    /// As usual.
    Normal,
    /// Slow, but not yet often enough or not yet surely.
    Slow,
    /// Slower than it used to be: report it. Said again at every slow timing until
    /// [`Baseline::reset`].
    Slower {
        /// Recent time over usual time.
        ratio: f64,
    },
}

/// The running past of a page's GETs, or of its HEADs. A few numbers, whatever the number of
/// fetches; the agent keeps it beside the page.
///
/// A timing is slow when it is nearer to `factor` times the usual than to the usual, in proportion.
/// The page has become slower after `repeats` slow timings in a row that together make chance an
/// unlikely explanation: their evidence is summed as in Page's test (E. S. Page, "Continuous
/// inspection schemes", 1954), each timing's share bounded so that no outlier decides alone. Slow
/// timings do not enter the past.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Baseline {
    fit: Regression,
    seen: u32,
    /// Mean squared deviation of the logarithm.
    variance: f64,
    slow_in_a_row: u32,
    evidence: f64,
    /// Sum of logarithmic ratios of the slow timings in a row.
    excess: f64,
}

/// Timings before the first comparison.
const LEAST: u32 = 5;
/// Evidence that one timing can give, in units of the logarithm of likelihoods.
const MOST_EVIDENCE: f64 = 5.0;
/// A change is believed at odds of about 10,000 to 1.
const ENOUGH_EVIDENCE: f64 = 9.2;
/// Spread below which no page's times are believed to be: a tenth.
const LEAST_SIGMA: f64 = 0.1;
/// Share of a new timing in the spread.
const SPREAD_GAIN: f64 = 0.05;

impl Baseline {
    /// Compares `timing` with the past and takes it in.
    pub fn observe(&mut self, sensitivity: &Sensitivity, timing: Timing) -> Comparison {
        let (size, ms) = (timing.bytes as f64 / 1024.0, timing.ms.max(0.01));
        let expected = self.fit.expected(size).unwrap_or(ms);
        let ratio = (ms / expected).ln();
        let change = sensitivity.factor.max(1.01).ln();
        if self.is_learning() {
            self.learn(size, ms.min(3.0 * expected), ratio.clamp(-1.0, 1.0));
            return Comparison::Learning;
        }
        let variance = self.variance.max(LEAST_SIGMA * LEAST_SIGMA);
        let evidence =
            ((ratio - change / 2.0) * change / variance).clamp(-MOST_EVIDENCE, MOST_EVIDENCE);
        self.evidence = (self.evidence + evidence).max(0.0);
        if ratio < change / 2.0 {
            (self.slow_in_a_row, self.excess) = (0, 0.0);
            self.learn(size, ms, ratio);
            return Comparison::Normal;
        }
        self.slow_in_a_row = self.slow_in_a_row.saturating_add(1);
        self.excess += ratio;
        if self.slow_in_a_row >= sensitivity.repeats && self.evidence >= ENOUGH_EVIDENCE {
            return Comparison::Slower {
                ratio: (self.excess / f64::from(self.slow_in_a_row)).exp(),
            };
        }
        self.widen(ratio.min(change));
        Comparison::Slow
    }

    /// Forgets the past, after the page's subnet was delegated anew or when the slowness was found
    /// to be the server's own: what comes now is the new usual.
    pub fn reset(&mut self) {
        *self = Self::default();
    }

    /// Whether there are too few timings to compare with.
    pub fn is_learning(&self) -> bool {
        self.seen < LEAST
    }

    /// The usual time of an answer of `bytes`, in milliseconds.
    pub fn expected_ms(&self, bytes: u64) -> Option<f64> {
        self.fit.expected(bytes as f64 / 1024.0)
    }

    fn learn(&mut self, size: f64, ms: f64, ratio: f64) {
        self.fit.add(size, ms);
        self.seen = self.seen.saturating_add(1);
        self.widen(ratio);
    }

    /// The first timings count as an average, later ones by a fixed share.
    fn widen(&mut self, ratio: f64) {
        let gain = SPREAD_GAIN.max(1.0 / f64::from(self.seen.max(1)));
        self.variance += gain * (ratio * ratio - self.variance);
    }
}
