//! Background cluster: subnets that are where no landmark is.
//!
//! Their round trips are distributed like those of the agents to all clusters together, whose
//! logarithms are taken for normal. That says little, but a subnet that no cluster explains is not
//! taken for one of the known clusters, and agents that are far from all landmarks are asked, too.

use super::access_time::{self, FREEDOM};
use crate::normal;

/// Least standard deviation of the logarithm: a few landmarks near each other say little of the
/// rest of the network.
const MIN_DEVIATION: f64 = 0.5;
/// Time to the nearest cluster at which half of what is near an agent is at a known cluster.
const NEAR_MS: f64 = 20.0;

/// Distribution of round trips to a subnet at the background cluster.
#[derive(Debug, Clone, Copy)]
pub(super) struct Background {
    /// Probability that the next subnet is there.
    pub(super) probability: f64,
    /// Mean of the logarithm of milliseconds.
    mean: f32,
    /// Standard deviation of the logarithm of milliseconds.
    deviation: f32,
}

impl Default for Background {
    /// The distribution before anything was measured.
    fn default() -> Self {
        Self::of(1.0, std::iter::empty())
    }
}

impl Background {
    /// Where the next subnet is with this `probability`, fitted to the times of the other clusters.
    pub(super) fn of(probability: f64, times_ms: impl Iterator<Item = f64>) -> Self {
        let mut sum = 0.0;
        let mut squares = 0.0;
        let mut count: f64 = 0.0;
        for logarithm in times_ms.map(|time_ms| time_ms.max(0.1).ln()) {
            sum += logarithm;
            squares += logarithm * logarithm;
            count += 1.0;
        }
        let mean = sum / count.max(1.0);
        let variance = squares / count.max(1.0) - mean * mean;
        let deviation = variance.max(0.0).sqrt().max(MIN_DEVIATION);
        Self { probability, mean: mean as f32, deviation: deviation as f32 }
    }

    /// Share of what is near an agent that may be at the background cluster, by the time to its
    /// nearest cluster: no cluster stands for what is next to an agent that is far from all of
    /// them.
    pub(super) fn share(nearest_ms: f64) -> f32 {
        (1.0 / (1.0 + NEAR_MS / nearest_ms.max(0.1))) as f32
    }

    /// How well it explains a round trip, as a density that compares with
    /// [`super::access_time::AccessTime::observe`].
    pub(super) fn density(self, rtt_ms: f32) -> f32 {
        let residual = self.deviations(rtt_ms);
        let base = 1.0 + residual * residual / FREEDOM;
        let deviation_ms = self.deviation * rtt_ms.max(0.1);
        access_time::density(base, deviation_ms * deviation_ms)
    }

    /// Probability that an agent measures less than `fastest_ms`.
    pub(super) fn below(self, fastest_ms: f32) -> f32 {
        normal::below(self.deviations(fastest_ms))
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
    fn it_is_distributed_like_the_measured_times() {
        let times = [10.0_f64, 20.0, 40.0, 80.0, 160.0, 320.0];
        let background = Background::of(0.5, times.into_iter());
        let half_ms = (20.0_f64 * 160.0).sqrt() as f32;
        assert!((background.below(half_ms) - 0.5).abs() < 0.01);
        assert!(background.below(10.0) < 0.1 && background.below(320.0) > 0.9);
        let (mean_ms, variance) = background.moments();
        assert!((80.0..130.0).contains(&mean_ms) && variance.sqrt() > 80.0, "{mean_ms} {variance}");
    }

    #[test]
    fn an_agent_far_from_all_landmarks_has_a_larger_share() {
        let shares = [0.0, 2.0, NEAR_MS, 200.0, f64::INFINITY].map(Background::share);
        assert!(shares.is_sorted() && shares[0] < 0.01 && shares[4] > 0.99, "{shares:?}");
        assert!((shares[2] - 0.5).abs() < 1e-6);
    }

    #[test]
    fn it_explains_every_time_a_little() {
        let background = Background::of(0.5, [30.0, 90.0, 150.0].into_iter());
        let all: f32 =
            (1..4_000).map(|tenths| background.density(tenths as f32 / 10.0) * 0.1).sum();
        // The density leaves out the constant of Student's t, 3/8.
        assert!((all - 8.0 / 3.0).abs() < 0.3, "{all}");
        assert!(Background::default().density(0.0).is_finite());
    }
}
