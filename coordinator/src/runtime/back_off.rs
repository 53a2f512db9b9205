//! Growing pauses between attempts.

use std::time::Duration;

/// First pause after a failed lookup.
const FIRST_RETRY: Duration = Duration::from_secs(1);
const RETRY_LIMIT: Duration = Duration::from_mins(10);

/// After this time a new URL gives a host that was given up another chance, in milliseconds.
pub const GIVEN_UP_MS: i64 = 24 * 3_600_000;

/// `first`, doubled `attempts` times, at most `limit`.
pub fn doubled(first: Duration, attempts: u32, limit: Duration) -> Duration {
    first.saturating_mul(1 << attempts.min(20)).min(limit)
}

/// The pause before a host is tried again that failed `attempts` times before, in milliseconds.
pub fn retry_ms(attempts: u32) -> i64 {
    doubled(FIRST_RETRY, attempts, RETRY_LIMIT).as_millis() as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retries_wait_up_to_ten_minutes() {
        assert_eq!([0, 1, 5, 30].map(retry_ms), [1_000, 2_000, 32_000, 600_000]);
    }
}
