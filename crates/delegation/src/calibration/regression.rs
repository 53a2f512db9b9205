//! Running linear regression: time = latency + bytes × pace.

use serde::{Deserialize, Serialize};

/// Weighted sums of a regression of time on size, in which the weight of older samples decays.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Regression {
    weight: f64,
    size: f64,
    time: f64,
    size_size: f64,
    size_time: f64,
}

/// Samples after which a sample counts half as much.
const HALF_LIFE: f64 = 20.0;
/// Standard deviations from the mean beyond which a size counts as new.
const NEW_SIZE_DEVIATIONS: f64 = 2.5;
/// Least difference of the logarithm from the mean for a size to count as new.
const NEW_SIZE_RATIO: f64 = 0.15;

impl Regression {
    /// Adds a sample of `size` (kibibytes) and `time` (milliseconds).
    pub(super) fn add(&mut self, size: f64, time: f64) {
        let decay = (-std::f64::consts::LN_2 / HALF_LIFE).exp();
        self.weight = decay * self.weight + 1.0;
        self.size = decay * self.size + size;
        self.time = decay * self.time + time;
        self.size_size = decay * self.size_size + size * size;
        self.size_time = decay * self.size_time + size * time;
    }

    /// Weight, mean size, mean time, variance of the size, and covariance of size and time; `None`
    /// before the first sample.
    pub(super) fn moments(&self) -> Option<[f64; 5]> {
        if self.weight <= 0.0 {
            return None;
        }
        let mean_size = self.size / self.weight;
        let mean_time = self.time / self.weight;
        let variance = (self.size_size / self.weight - mean_size * mean_size).max(0.0);
        let covariance = self.size_time / self.weight - mean_size * mean_time;
        Some([self.weight, mean_size, mean_time, variance, covariance])
    }

    /// The regression with these moments.
    pub(super) fn of_moments([weight, size, time, variance, covariance]: [f64; 5]) -> Self {
        Self {
            weight,
            size: weight * size,
            time: weight * time,
            size_size: weight * (variance + size * size),
            size_time: weight * (covariance + size * time),
        }
    }

    /// Expected time of a page of `size`; `None` before the first sample.
    pub(super) fn expected(&self, size: f64) -> Option<f64> {
        let [_, mean_size, mean_time, variance, covariance] = self.moments()?;
        // Without a variation of sizes, or where larger pages would be faster, size is ignored.
        let is_varied = variance > (0.05 * mean_size).powi(2) && variance > 1e-9;
        let pace = if is_varied { (covariance / variance).max(0.0) } else { 0.0 };
        let line = (mean_time + pace * (size - mean_size)).max(0.1 * mean_time);
        // A new size says nothing yet about the pace: then the page may take as much longer as it
        // is larger, and the usual time when it is smaller.
        let is_new = (size - mean_size).powi(2)
            > NEW_SIZE_DEVIATIONS * NEW_SIZE_DEVIATIONS * variance
            && (size / mean_size).ln().abs() > NEW_SIZE_RATIO;
        let most = mean_time * (size / mean_size).max(1.0);
        Some(if is_new && mean_size > 0.0 { line.max(most) } else { line })
    }
}
