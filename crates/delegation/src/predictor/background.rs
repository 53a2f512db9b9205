//! A subnet may be where no landmark is.
//!
//! What an agent measures there is like what the agents measure at all clusters together, whose
//! logarithms are taken for normal. That is little, but it keeps a subnet from being taken for one
//! of the known clusters when none explains it, and the agents that are far from all landmarks from
//! being passed over.

use super::access_time::{self, FREEDOM};
use super::normal;

/// The least deviation of the logarithm: a few landmarks near each other say little of the world.
const LEAST_DEVIATION: f64 = 0.5;
/// With a landmark so near, half of what is near an agent is at a known cluster.
const NEAR_MS: f64 = 20.0;

/// Round trips to a subnet that may be anywhere.
#[derive(Debug, Clone, Copy)]
pub(super) struct Background {
    /// Probability that the next subnet is there.
    pub(super) probability: f64,
    /// Of the logarithm of milliseconds.
    mean: f32,
    deviation: f32,
}

impl Default for Background {
    /// Before anything was measured.
    fn default() -> Self {
        Self::of(1.0, std::iter::empty())
    }
}

impl Background {
    /// Where the next subnet is with this `probability`, and then as far as these times in milliseconds
    /// say.
    pub(super) fn of(probability: f64, times_ms: impl Iterator<Item = f64>) -> Self {
        let (mut sum, mut squares, mut count) = (0.0, 0.0, 0.0);
        for logarithm in times_ms.map(|time_ms| time_ms.max(0.1).ln()) {
            sum += logarithm;
            squares += logarithm * logarithm;
            count += 1.0;
        }
        let mean = sum / f64::max(count, 1.0);
        let variance = squares / f64::max(count, 1.0) - mean * mean;
        let deviation = variance.max(0.0).sqrt().max(LEAST_DEVIATION);
        Self { probability, mean: mean as f32, deviation: deviation as f32 }
    }

    /// How much of what is near an agent may be background, from 0 to 1, by the time to the nearest
    /// cluster: next to an agent that is far from every landmark is nothing that one stands for.
    pub(super) fn background_shares(nearest_ms: f64) -> f32 {
        (1.0 / (1.0 + NEAR_MS / nearest_ms.max(0.1))) as f32
    }

    /// How well it explains a round trip, as a density that compares with
    /// [`super::access_time::AccessTime::observe`].
    pub(super) fn density(self, rtt_ms: f32) -> f32 {
        let surprise = self.deviations(rtt_ms);
        let base = 1.0 + surprise * surprise / FREEDOM;
        let deviation_ms = self.deviation * rtt_ms.max(0.1);
        access_time::density(base, deviation_ms * deviation_ms)
    }

    /// Probability that an agent measures less than `best_ms`.
    pub(super) fn below(self, best_ms: f32) -> f32 {
        normal::below(self.deviations(best_ms))
    }

    /// Mean and variance of a round trip, in milliseconds and their squares.
    pub(super) fn moments(self) -> (f64, f64) {
        let variance = f64::from(self.deviation).powi(2);
        let mean_ms = (f64::from(self.mean) + variance / 2.0).exp();
        (mean_ms, mean_ms * mean_ms * variance.exp_m1())
    }

    fn deviations(self, time_ms: f32) -> f32 {
        (time_ms.max(0.1).ln() - self.mean) / self.deviation
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_like_what_was_measured() {
        let times = [10.0_f64, 20.0, 40.0, 80.0, 160.0, 320.0];
        let background = Background::of(0.5, times.into_iter());
        let half_ms = (20.0_f64 * 160.0).sqrt() as f32;
        assert!((background.below(half_ms) - 0.5).abs() < 0.01);
        assert!(background.below(10.0) < 0.1 && background.below(320.0) > 0.9);
        let (mean_ms, variance) = background.moments();
        assert!((80.0..130.0).contains(&mean_ms) && variance.sqrt() > 80.0, "{mean_ms} {variance}");
    }

    #[test]
    fn who_is_far_from_all_landmarks_has_more_around_it_that_is_unknown() {
        let shares = [0.0, 2.0, NEAR_MS, 200.0, f64::INFINITY].map(Background::background_shares);
        assert!(shares.is_sorted() && shares[0] < 0.01 && shares[4] > 0.99, "{shares:?}");
        assert!((shares[2] - 0.5).abs() < 1e-6);
    }

    #[test]
    fn it_explains_everything_a_little() {
        let background = Background::of(0.5, [30.0, 90.0, 150.0].into_iter());
        let all: f32 =
            (1..4_000).map(|tenths| background.density(tenths as f32 / 10.0) * 0.1).sum();
        // AccessTime::observe leaves the constant of Student's t away, 3/8.
        assert!((all - 8.0 / 3.0).abs() < 0.3, "{all}");
        assert!(Background::default().density(0.0).is_finite());
    }
}
