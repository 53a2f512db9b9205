//! Token bucket: bounds a rate, and lets a burst through after a rest.

use std::time::Duration;

/// A token bucket, as the time at which all reserved tokens are paid for. Times are read from any
/// clock that does not go back.
#[derive(Debug, Clone)]
pub struct TokenBucket {
    per_second: u64,
    /// Time for which the bucket may fill while no tokens are taken.
    burst: Duration,
    paid: Duration,
}

impl TokenBucket {
    /// A bucket of this rate.
    pub fn new(per_second: u64, burst: Duration) -> Self {
        Self { per_second: per_second.max(1), burst, paid: Duration::ZERO }
    }

    /// Reserves tokens; returns the time until they may be used.
    pub fn reserve(&mut self, tokens: u64, now: Duration) -> Duration {
        let from = self.paid.max(now.saturating_sub(self.burst));
        self.paid = from + self.time_of(tokens);
        self.backlog(now)
    }

    /// Gives back tokens that were reserved and not used.
    pub fn give_back(&mut self, tokens: u64) {
        self.paid = self.paid.saturating_sub(self.time_of(tokens));
    }

    /// Time until everything that is reserved may be used.
    pub fn backlog(&self, now: Duration) -> Duration {
        self.paid.saturating_sub(now)
    }

    fn time_of(&self, tokens: u64) -> Duration {
        let nanos = u128::from(tokens) * 1_000_000_000 / u128::from(self.per_second);
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_followed_by_the_rate() {
        let mut bucket = TokenBucket::new(10, Duration::from_secs(1));
        let now = Duration::from_secs(100);
        let waits: Vec<u128> = (0..13).map(|_| bucket.reserve(1, now).as_millis()).collect();
        assert_eq!(waits, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 100, 200, 300]);
        let waits: Vec<u128> =
            (0..3).map(|_| bucket.reserve(1, now + Duration::from_secs(1)).as_millis()).collect();
        assert_eq!(waits, [0, 0, 0], "what was not used in between");
    }
}
