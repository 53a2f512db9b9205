//! A baseline in few numbers, for another agent that takes the page over.

use super::{baseline::Baseline, regression::Regression};

/// Numbers of a [`CompactBaseline`].
pub const VALUES: usize = 8;

/// A baseline whose numbers need little precision: means and variances instead of sums, of which
/// the variance would be a small difference.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CompactBaseline {
    pub timings: u32,
    /// Slow timings in a row.
    pub slow_in_a_row: u32,
    /// Weight, mean size, mean time, variance of the size, covariance of size and time; then
    /// variance, evidence and excess of the baseline.
    pub values: [f32; VALUES],
}

impl Baseline {
    /// The baseline in few numbers; none before the first timing.
    pub fn compact(&self) -> Option<CompactBaseline> {
        let [weight, size, time, variance, covariance] = self.regression.moments()?;
        let values =
            [weight, size, time, variance, covariance, self.variance, self.evidence, self.excess];
        Some(CompactBaseline {
            timings: self.timings,
            slow_in_a_row: self.slow_in_a_row,
            values: values.map(|value| value as f32),
        })
    }

    /// The baseline of these numbers; none where no timings give them.
    pub fn from_compact(compact: CompactBaseline) -> Option<Self> {
        let values = compact.values.map(f64::from);
        let [weight, size, time, size_variance, covariance, variance, evidence, excess] = values;
        let is_possible = values.iter().all(|value| value.is_finite())
            && weight > 0.0
            && [size, time, size_variance, variance, evidence].iter().all(|value| *value >= 0.0);
        is_possible.then(|| Self {
            regression: Regression::of_moments([weight, size, time, size_variance, covariance]),
            timings: compact.timings,
            variance,
            slow_in_a_row: compact.slow_in_a_row,
            evidence,
            excess,
        })
    }
}

#[cfg(test)]
mod tests {
    use model::Slowdown;

    use super::*;
    use crate::calibration::{Comparison, Timing};

    /// Timings of a page of about 200 kibibytes that varies by a hundredth.
    fn learned() -> Baseline {
        let mut baseline = Baseline::default();
        for n in 0..40_u32 {
            let bytes = 200_000 + u64::from(n % 7) * 300;
            let ms = 80.0 + f64::from(n % 5);
            baseline.observe(Slowdown::default(), Timing { ms, bytes });
        }
        baseline
    }

    #[test]
    fn a_compact_baseline_judges_like_the_original() {
        let mut original = learned();
        let mut copy = Baseline::from_compact(original.compact().unwrap()).unwrap();
        for ms in [70.0, 84.0, 150.0, 170.0, 90.0, 300.0, 310.0, 305.0] {
            let timing = Timing { ms, bytes: 201_000 };
            let slowdown = Slowdown::default();
            match (original.observe(slowdown, timing), copy.observe(slowdown, timing)) {
                (Comparison::Slower { ratio: a }, Comparison::Slower { ratio: b }) => {
                    assert!((a / b - 1.0).abs() < 1e-3, "{a} {b}");
                }
                (a, b) => assert_eq!(a, b),
            }
        }
    }

    #[test]
    fn a_baseline_without_timings_has_no_numbers() {
        assert_eq!(Baseline::default().compact(), None);
    }

    #[test]
    fn impossible_numbers_are_refused() {
        let good = learned().compact().unwrap();
        for (place, value) in [(0, 0.0), (0, f32::NAN), (1, -1.0), (3, -1.0), (4, f32::INFINITY)] {
            let mut bad = good;
            bad.values[place] = value;
            assert_eq!(Baseline::from_compact(bad), None, "{place} {value}");
        }
    }
}
