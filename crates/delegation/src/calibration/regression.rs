//! A running line: time = latency + bytes × pace.

use serde::{Deserialize, Serialize};

/// Weighted sums of a regression of time on size, in which older samples fade.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Regression {
    weight: f64,
    size: f64,
    time: f64,
    size_size: f64,
    size_time: f64,
}

/// A sample counts half as much after this many more.
const HALF_LIFE: f64 = 20.0;
/// Sizes farther than so many deviations from the mean were not seen before.
const STRANGE: f64 = 2.5;
/// Smaller changes of the size, as a logarithm, are nothing strange.
const USUAL: f64 = 0.15;

impl Regression {
    /// Takes in a sample of `size` (kibibytes) and `time` (milliseconds).
    pub(super) fn add(&mut self, size: f64, time: f64) {
        let fade = (-std::f64::consts::LN_2 / HALF_LIFE).exp();
        for sum in [
            &mut self.weight,
            &mut self.size,
            &mut self.time,
            &mut self.size_size,
            &mut self.size_time,
        ] {
            *sum *= fade;
        }
        self.weight += 1.0;
        self.size += size;
        self.time += time;
        self.size_size += size * size;
        self.size_time += size * time;
    }

    /// The time that a page of `size` takes; `None` before the first sample. Without a spread of
    /// sizes, or where larger pages would be faster, size is left aside. A size far from all seen
    /// before says nothing yet about the pace: then the page may take as much longer as it is
    /// larger, and as long as ever when it is smaller.
    pub(super) fn expected(&self, size: f64) -> Option<f64> {
        if self.weight <= 0.0 {
            return None;
        }
        let (mean_size, mean_time) = (self.size / self.weight, self.time / self.weight);
        let spread = self.size_size / self.weight - mean_size * mean_size;
        let together = self.size_time / self.weight - mean_size * mean_time;
        let enough = spread > (0.05 * mean_size).powi(2) && spread > 1e-9;
        let pace = if enough { (together / spread).max(0.0) } else { 0.0 };
        let line = (mean_time + pace * (size - mean_size)).max(0.1 * mean_time);
        let is_strange = (size - mean_size).powi(2) > STRANGE * STRANGE * spread
            && (size / mean_size).ln().abs() > USUAL;
        let most = mean_time * (size / mean_size).max(1.0);
        Some(if is_strange && mean_size > 0.0 { line.max(most) } else { line })
    }
}
