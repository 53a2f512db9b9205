//! Access times: what a subnet adds to every round trip, behind its last router.
//!
//! A subnet's access time is unknown, and takes one of sixteen values in the model. Their
//! frequencies begin as a log-normal distribution and are learned from the trails.

use crate::normal;

/// Number of values that are considered.
pub(super) const VALUES: usize = 16;
/// A weight, or another number, per value.
pub(super) type PerAccess = [f32; VALUES];

/// The smallest value, in milliseconds.
const SMALLEST_MS: f32 = 0.6;
/// The largest value over the smallest.
const RANGE: f32 = 60.0;
/// Median in milliseconds, and deviation of the logarithm, before anything is learned.
const MEDIAN_MS: f32 = 4.0;
/// Median on a map of springs. This map is made from times between homes, which contain access
/// lines, so the heights of its places contain a part of the access time already.
const MEDIAN_ON_SPRINGS_MS: f32 = 1.0;
const DEVIATION: f32 = 0.8;
/// Subnets that weigh as much as that distribution.
const PRIOR_SUBNETS: f32 = 300.0;

/// Least time of the network in front of a subnet, in milliseconds.
const LEAST_NETWORK_MS: f32 = 0.4;
/// Largest deviation of a logarithm.
const LARGEST_DEVIATION: f32 = 1.5;
/// Standard deviation of one probe, as a share of the round trip.
const PROBE_DEVIATION: f32 = 0.03;

/// The values, and how often each occurs.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct AccessTimes {
    values_ms: PerAccess,
    /// Deviation within the interval that a value represents.
    spreads_ms: PerAccess,
    usual: PerAccess,
    /// Subnets with each value.
    counts: PerAccess,
    weights: PerAccess,
}

/// The part of a round trip that the network took, if the access time is one of the values.
#[derive(Debug, Clone, Copy)]
pub(super) struct NetworkTime {
    /// Logarithm of milliseconds.
    pub(super) log: f32,
    /// Standard deviation of the logarithm, of the probe and of the access time.
    pub(super) deviation: f32,
    /// Turns a density of the logarithm into one of the round trip.
    pub(super) density: f32,
}

impl AccessTimes {
    /// Subnets at places on the globe, before anything is learned.
    pub(super) fn on_globe() -> Self {
        Self::with_median(MEDIAN_MS)
    }

    /// Subnets at places that springs found, before anything is learned.
    pub(super) fn on_springs() -> Self {
        Self::with_median(MEDIAN_ON_SPRINGS_MS)
    }

    fn with_median(median_ms: f32) -> Self {
        let step = RANGE.powf(1.0 / (VALUES - 1) as f32);
        let values_ms: PerAccess = std::array::from_fn(|n| SMALLEST_MS * step.powf(n as f32));
        // Uniform within an interval, a time deviates by about 0.6 of half of the interval.
        let spreads_ms = values_ms.map(|ms| 0.6 * ms * (step.sqrt() - 1.0));
        // A value represents all times up to half of the way to the next.
        let below = |n: usize| match n {
            VALUES => 1.0,
            n => normal::below((values_ms[n - 1] * step.sqrt() / median_ms).ln() / DEVIATION),
        };
        let usual = std::array::from_fn(|n| below(n + 1) - if n == 0 { 0.0 } else { below(n) });
        Self { values_ms, spreads_ms, usual, counts: [0.0; VALUES], weights: usual }
    }

    /// Probability of each value.
    pub(super) fn weights(&self) -> &PerAccess {
        &self.weights
    }

    /// Forgets what was counted; the weights stay until [`Self::refresh`].
    pub(super) fn clear(&mut self) {
        self.counts = [0.0; VALUES];
    }

    /// Counts a subnet whose access time has these probabilities.
    pub(super) fn count(&mut self, probabilities: &PerAccess, weight: f32) {
        for (count, probability) in self.counts.iter_mut().zip(probabilities) {
            *count += weight * probability;
        }
    }

    /// Computes the weights from the counts.
    pub(super) fn refresh(&mut self) {
        let total: f32 = self.counts.iter().sum();
        self.weights = std::array::from_fn(|n| {
            (self.counts[n] + PRIOR_SUBNETS * self.usual[n]) / (total + PRIOR_SUBNETS)
        });
    }

    /// The network's part of a round trip, for each value.
    pub(super) fn network(&self, rtt_ms: f32) -> [NetworkTime; VALUES] {
        std::array::from_fn(|n| network_time(rtt_ms, self.values_ms[n], self.spreads_ms[n]))
    }

    /// Logarithm of the network's part of a round trip, and its variance, if the access time has
    /// these probabilities.
    pub(super) fn mean_network(&self, rtt_ms: f32, probabilities: &PerAccess) -> (f32, f32) {
        let mut mean = 0.0;
        let mut square = 0.0;
        let mut within = 0.0;
        for (time, probability) in self.network(rtt_ms).iter().zip(probabilities) {
            mean += probability * time.log;
            square += probability * time.log * time.log;
            within += probability * time.deviation * time.deviation;
        }
        // Law of total variance: the mean variance within the values, and the variance of their
        // means.
        (mean, within + (square - mean * mean).max(0.0))
    }

    /// Mean access time in milliseconds.
    pub(super) fn mean_ms(&self, probabilities: &PerAccess) -> f32 {
        self.values_ms.iter().zip(probabilities).map(|(ms, probability)| ms * probability).sum()
    }
}

fn network_time(rtt_ms: f32, access_ms: f32, spread_ms: f32) -> NetworkTime {
    let probe_ms = PROBE_DEVIATION * rtt_ms;
    let deviation_ms = (probe_ms * probe_ms + spread_ms * spread_ms).sqrt();
    let left_ms = rtt_ms - access_ms;
    let network_ms = left_ms.max(LEAST_NETWORK_MS);
    // A round trip shorter than the access time is the less likely the larger the difference is.
    let excess = (network_ms - left_ms) / deviation_ms.max(1e-3);
    NetworkTime {
        log: network_ms.ln(),
        deviation: (deviation_ms / network_ms).min(LARGEST_DEVIATION),
        density: (-0.5 * excess * excess).exp() / network_ms,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_those_of_the_distribution_until_something_is_counted() {
        let mut access = AccessTimes::on_globe();
        let total: f32 = access.weights().iter().sum();
        assert!((total - 1.0).abs() < 1e-3, "{total}");
        let mean_ms = access.mean_ms(access.weights());
        assert!((4.5..6.5).contains(&mean_ms), "{mean_ms}");
        let mut last = [0.0; VALUES];
        last[VALUES - 1] = 1.0;
        access.count(&last, 10_000.0);
        access.refresh();
        assert!(access.weights()[VALUES - 1] > 0.9);
        access.clear();
        access.refresh();
        let unlearned = access.weights().iter().zip(AccessTimes::on_globe().weights);
        assert!(unlearned.into_iter().all(|(a, b)| (a - b).abs() < 1e-6));
    }

    #[test]
    fn the_network_takes_what_the_access_line_leaves() {
        let access = AccessTimes::on_globe();
        let network = access.network(20.0);
        assert!((network[0].log.exp() - 19.4).abs() < 0.1);
        assert!(network[VALUES - 1].density < 1e-4, "36 ms do not fit into 20 ms");
        assert!(access.network(0.0).iter().all(|time| time.log.is_finite()));
    }
}
