//! Back-off: how long to wait before an attempt is repeated.

use std::time::Duration;

const FIRST: Duration = Duration::from_millis(500);
const LONGEST: Duration = Duration::from_secs(30);

/// Counts failures in a row; each doubles the pause.
#[derive(Debug, Clone, Copy, Default)]
pub struct Backoff {
    failures: u32,
}

impl Backoff {
    /// Starts again after a success.
    pub fn reset(&mut self) {
        self.failures = 0;
    }

    /// Pause after another failure. `chance` is random, from 0 to 1.
    pub fn next(&mut self, chance: f64) -> Duration {
        let most = FIRST.saturating_mul(2u32.saturating_pow(self.failures)).min(LONGEST);
        self.failures = self.failures.saturating_add(1);
        // Half fixed, half random: agents that failed together, because the coordinator restarted,
        // must not come back together.
        most / 2 + most.mul_f64(chance.clamp(0.0, 1.0) / 2.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_are_spread_and_start_anew() {
        let mut early = Backoff::default();
        let mut late = Backoff::default();
        let of = |backoff: &mut Backoff, chance| -> Vec<u128> {
            (0..8).map(|_| backoff.next(chance).as_millis()).collect()
        };
        assert_eq!(of(&mut early, 0.0), [250, 500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000]);
        assert_eq!(of(&mut late, 1.0), [500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
        early.reset();
        assert_eq!(early.next(0.0).as_millis(), 250);
        let mut forever = Backoff { failures: u32::MAX };
        assert_eq!(forever.next(2.0), LONGEST);
    }
}
