//! Time as this crate sees it: milliseconds of one machine's own clock, given by the caller.
//!
//! Points in time of two machines are never compared. What one machine tells another is a duration,
//! and [`Drift`] bounds how differently two clocks measure it.

use serde::{Deserialize, Serialize};

/// Milliseconds of one machine's clock, which never goes back while a process runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Millis(pub u64);

impl Millis {
    /// The point `ms` milliseconds later.
    #[must_use]
    pub const fn plus(self, ms: u64) -> Self {
        Self(self.0.saturating_add(ms))
    }

    /// Milliseconds from `earlier` to this point; 0 if `earlier` is later.
    pub const fn since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

/// Bound on the error of every clock's rate, in parts per million. Quartz clocks err by some ten,
/// virtual machines by some hundred.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Drift {
    /// Parts per million by which a clock may be too fast or too slow.
    pub ppm: u32,
}

/// Parts in the whole.
const MILLION: u64 = 1_000_000;

impl Drift {
    /// What this machine may count so that at most `ms` really pass.
    pub const fn at_most(self, ms: u64) -> u64 {
        ms.saturating_sub(self.error(ms))
    }

    /// What this machine must count so that at least `ms` really pass.
    pub const fn at_least(self, ms: u64) -> u64 {
        ms.saturating_add(self.error(ms))
    }

    /// Error of a clock over `ms`, rounded up.
    const fn error(self, ms: u64) -> u64 {
        ms.saturating_mul(self.ppm as u64).div_ceil(MILLION)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_holder_ends_before_a_fast_voter() {
        let drift = Drift { ppm: 200 };
        // The slow clock counts 0.9998 ms in a true one, the fast clock 1.0002 ms.
        let slow = drift.at_most(60_000) as f64 / 0.9998;
        let fast = drift.at_least(60_000) as f64 / 1.0002;
        assert!(slow <= 60_000.1 && fast >= 59_999.9, "{slow} {fast}");
    }

    #[test]
    fn time_saturates() {
        assert_eq!(Millis(u64::MAX).plus(1), Millis(u64::MAX));
        assert_eq!(Millis(1).since(Millis(2)), 0);
    }
}
