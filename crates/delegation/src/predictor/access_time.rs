//! Access time: what a subnet adds to the time of the network in front of it, per cluster.

use super::PROBE_SIGMA;
use super::clusters::ExpectedTime;

/// Degrees of freedom of Student's *t*; the power in [`density`] follows from them.
pub(super) const FREEDOM: f32 = 4.0;
/// Square of the share by which one probe deviates.
const PROBE_VARIANCE: f32 = (PROBE_SIGMA * PROBE_SIGMA) as f32;

/// The access time of a subnet if it is at some cluster, estimated by a Kalman filter of one
/// variable.
#[derive(Debug, Clone, Copy)]
pub(super) struct AccessTime {
    /// Milliseconds above the usual.
    pub(super) ms: f32,
    /// Variance of the estimate, in square milliseconds.
    pub(super) variance: f32,
}

impl AccessTime {
    /// Updates the estimate by a round trip; returns how well the round trip was explained, as a
    /// density.
    pub(super) fn observe(&mut self, expected: ExpectedTime, rtt_ms: f32) -> f32 {
        let noise = expected.variance + rtt_ms * rtt_ms * PROBE_VARIANCE;
        let variance = self.variance + noise;
        let residual = rtt_ms - expected.time_ms - self.ms;
        let base = 1.0 + residual * residual / (variance * FREEDOM);
        // An unlikely measurement changes the estimate less: its noise counts as larger.
        let noise = noise * base * (FREEDOM / (FREEDOM + 1.0));
        let gain = self.variance / (self.variance + noise);
        self.ms += gain * residual;
        self.variance *= 1.0 - gain;
        density(base, variance)
    }

    /// How many standard deviations the round trip of an agent is expected below `fastest_ms`.
    pub(super) fn deviations_below(self, expected: ExpectedTime, fastest_ms: f32) -> f32 {
        let mean = expected.time_ms + self.ms;
        let variance = self.variance + expected.variance + mean * mean * PROBE_VARIANCE;
        (fastest_ms - mean) / variance.sqrt()
    }
}

/// Student's *t* without its constant, where `base` is one and the squared residual over variance
/// and degrees of freedom.
pub(super) fn density(base: f32, variance: f32) -> f32 {
    // The base to the power of 2.5 (half of one more than the degrees of freedom), times the
    // deviation.
    1.0 / (base * base * (base * variance).sqrt())
}
