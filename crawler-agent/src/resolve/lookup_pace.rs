//! Pace of lookups: bounds the rate at which name servers are asked.

use std::time::Duration;

/// Lookups that may follow each other at once after a rest, in seconds of the rate.
const BURST_S: u32 = 1;

/// Says when the next lookup may begin. Times are counted from the start of the agent.
#[derive(Debug)]
pub struct LookupPace {
    /// Time between two lookups at the full rate.
    interval: Duration,
    burst: Duration,
    /// When the next lookup would begin if they came at the full rate only.
    next: Duration,
}

impl LookupPace {
    /// A pace of this many lookups a second.
    pub fn new(per_second: u32) -> Self {
        let burst = Duration::from_secs(BURST_S.into());
        let interval = Duration::from_secs(1) / per_second.max(1);
        Self { interval, burst: burst.saturating_sub(interval), next: Duration::ZERO }
    }

    /// Counts a lookup; returns how long it must wait.
    pub fn admit(&mut self, now: Duration) -> Duration {
        let at = self.next.max(now.saturating_sub(self.burst));
        self.next = at + self.interval;
        at.saturating_sub(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_followed_by_the_rate() {
        let mut pace = LookupPace::new(10);
        let now = Duration::from_secs(100);
        let waits: Vec<u128> = (0..13).map(|_| pace.admit(now).as_millis()).collect();
        assert_eq!(waits, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 100, 200, 300]);
        let waits: Vec<u128> =
            (0..3).map(|_| pace.admit(now + Duration::from_secs(1)).as_millis()).collect();
        assert_eq!(waits, [0, 0, 0], "what was not used in between");
    }
}
