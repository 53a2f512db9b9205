//! What a subnet adds to the time of the network up to it, cluster by cluster.

use super::PROBE_SIGMA;
use super::clusters::ExpectedTime;

/// Degrees of freedom of Student's *t*; [`density`] has the power for them.
pub(super) const FREEDOM: f32 = 4.0;
/// Square of the share by which one probe deviates.
const PROBE_VARIANCE: f32 = (PROBE_SIGMA * PROBE_SIGMA) as f32;

/// What the subnet adds if it is at some cluster, followed by a Kalman filter of one variable. In
/// single precision, so that several clusters, or several agents, are dealt with at a time.
#[derive(Debug, Clone, Copy)]
pub(super) struct AccessTime {
    /// Above the usual, in milliseconds.
    pub(super) ms: f32,
    pub(super) variance: f32,
}

impl AccessTime {
    /// Takes in a round trip; how well it was explained, as a density.
    #[inline]
    pub(super) fn observe(&mut self, expected: ExpectedTime, rtt_ms: f32) -> f32 {
        let noise = expected.variance + rtt_ms * rtt_ms * PROBE_VARIANCE;
        let variance = self.variance + noise;
        let surprise = rtt_ms - expected.time_ms - self.ms;
        let base = 1.0 + surprise * surprise / (variance * FREEDOM);
        // The unmeasured the measurement, the less it is trusted.
        let noise = noise * base * (FREEDOM / (FREEDOM + 1.0));
        let gain = self.variance / (self.variance + noise);
        self.ms += gain * surprise;
        self.variance *= 1.0 - gain;
        density(base, variance)
    }

    /// How many deviations `best_ms` is above what an agent would measure.
    #[inline]
    pub(super) fn headway(self, expected: ExpectedTime, best_ms: f32) -> f32 {
        let mean = expected.time_ms + self.ms;
        let variance = self.variance + expected.variance + mean * mean * PROBE_VARIANCE;
        (best_ms - mean) / variance.sqrt()
    }
}

/// Student's *t* without its constant, where `base` is one and the squared surprise over variance
/// and degrees of freedom.
#[inline]
pub(super) fn density(base: f32, variance: f32) -> f32 {
    // One over the deviation and the base to the power of 2.5, half of one more than the degrees of
    // freedom.
    1.0 / (base * base * (base * variance).sqrt())
}
