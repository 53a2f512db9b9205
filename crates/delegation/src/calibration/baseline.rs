//! Baseline of one page: the usual time of its GETs, or of its HEADs.

use model::Slowdown;
use serde::{Deserialize, Serialize};

use super::regression::Regression;

/// One timed GET or HEAD.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Timing {
    /// From sending the request to the end of the answer, in milliseconds.
    pub ms: f64,
    /// Bytes of the answer on the wire.
    pub bytes: u64,
}

/// A timing compared with the baseline.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Comparison {
    /// Too few timings to compare with.
    Learning,
    /// The page took its usual time.
    Normal,
    /// Slow, but not often enough or not by enough for a report.
    Slow,
    /// Slower than before: to be reported. Repeated at every slow timing until
    /// [`Baseline::reset`].
    Slower {
        /// Recent time over usual time.
        ratio: f64,
    },
}

/// Running statistics of a page's timings. Their size does not depend on the number of fetches; the
/// agent stores them with the page.
///
/// A timing is slow when, in proportion, it is nearer to `factor` times the usual than to the
/// usual. The page has become slower after `repeats` slow timings in a row that chance hardly
/// explains: their evidence is summed as in Page's test (E. S. Page, "Continuous inspection
/// schemes", 1954), each timing's share bounded so that no outlier decides alone. Slow timings do
/// not change the baseline.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Baseline {
    pub(super) regression: Regression,
    pub(super) timings: u32,
    /// Mean squared deviation of the logarithm of a timing over the expected time.
    pub(super) variance: f64,
    pub(super) slow_in_a_row: u32,
    /// Logarithm of the likelihood of a slowdown over that of none, never below 0.
    pub(super) evidence: f64,
    /// Sum of the logarithmic ratios of the slow timings in a row.
    pub(super) excess: f64,
}

/// Timings before the first comparison.
const MIN_TIMINGS: u32 = 5;
/// Evidence of a single timing.
const MAX_EVIDENCE: f64 = 5.0;
/// Evidence for a report: odds of about 10,000 to 1.
const REPORT_EVIDENCE: f64 = 9.2;
/// Least standard deviation of the logarithm: a tenth, even if a page varied less so far.
const MIN_SIGMA: f64 = 0.1;
/// Weight of a new timing in the variance.
const VARIANCE_GAIN: f64 = 0.05;

impl Baseline {
    /// Compares `timing` with the baseline, then updates the baseline.
    pub fn observe(&mut self, slowdown: Slowdown, timing: Timing) -> Comparison {
        let size = timing.bytes as f64 / 1024.0;
        let ms = timing.ms.max(0.01);
        let expected = self.regression.expected(size).unwrap_or(ms);
        let ratio = (ms / expected).ln();
        let change = slowdown.factor().max(1.01).ln();
        if self.is_learning() {
            // The first timings may be outliers themselves, so that their influence is bounded.
            self.learn(size, ms.min(3.0 * expected), ratio.clamp(-1.0, 1.0));
            return Comparison::Learning;
        }
        // Evidence of a normal variable for a mean of `change` against a mean of 0.
        let variance = self.variance.max(MIN_SIGMA * MIN_SIGMA);
        let evidence =
            ((ratio - change / 2.0) * change / variance).clamp(-MAX_EVIDENCE, MAX_EVIDENCE);
        self.evidence = (self.evidence + evidence).max(0.0);
        if ratio < change / 2.0 {
            self.slow_in_a_row = 0;
            self.excess = 0.0;
            self.learn(size, ms, ratio);
            return Comparison::Normal;
        }
        self.slow_in_a_row = self.slow_in_a_row.saturating_add(1);
        self.excess += ratio;
        if self.slow_in_a_row >= slowdown.repeats && self.evidence >= REPORT_EVIDENCE {
            let ratio = (self.excess / f64::from(self.slow_in_a_row)).exp();
            return Comparison::Slower { ratio };
        }
        // A page with many slow timings varies much: that lowers the evidence of later ones.
        self.update_variance(ratio.min(change));
        Comparison::Slow
    }

    /// Forgets all timings, after the page's subnet was delegated to another agent or when the
    /// server itself had become slower: the next timings are the new usual ones.
    pub fn reset(&mut self) {
        *self = Self::default();
    }

    /// Whether there are too few timings to compare with.
    pub fn is_learning(&self) -> bool {
        self.timings < MIN_TIMINGS
    }

    fn learn(&mut self, size: f64, ms: f64, ratio: f64) {
        self.regression.add(size, ms);
        self.timings = self.timings.saturating_add(1);
        self.update_variance(ratio);
    }

    fn update_variance(&mut self, ratio: f64) {
        // The first timings count as an average, later ones with a fixed weight.
        let gain = VARIANCE_GAIN.max(1.0 / f64::from(self.timings.max(1)));
        self.variance += gain * (ratio * ratio - self.variance);
    }
}
