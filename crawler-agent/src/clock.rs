//! The wall clock. Only this module reads it; code that decides takes times as arguments.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jiff::Timestamp;
use model::UnixMillis;

/// The present time.
pub fn now() -> UnixMillis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    UnixMillis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// The time until a point; zero where it has passed.
pub fn until(at: UnixMillis) -> Duration {
    Duration::from_millis(at.0.saturating_sub(now().0).max(0).unsigned_abs())
}

/// A time that is at least `pause` from now.
pub fn after(pause: Duration) -> UnixMillis {
    now().plus(pause).plus_ms(1)
}

/// The time until a stored point; zero also where the point is wrong.
pub fn until_stored(at: UnixMillis) -> Duration {
    if is_wrong(at, now()) { Duration::ZERO } else { until(at) }
}

/// Longest time from now to a stored time: rests of hosts and validities are shorter, in
/// milliseconds.
pub const LONGEST_AHEAD_MS: i64 = 5 * 24 * 3_600 * 1_000;

/// Whether a stored time is so far ahead of `now` that the clock was wrong when it was stored.
pub const fn is_wrong(stored: UnixMillis, now: UnixMillis) -> bool {
    stored.0 > now.plus_ms(LONGEST_AHEAD_MS).0
}

/// How far this clock is ahead of the coordinator's, in milliseconds, and below 0 behind. The
/// coordinator wrote `theirs` after the request was `sent` and before the answer was `received`.
pub fn ahead_ms(sent: UnixMillis, received: UnixMillis, theirs: UnixMillis) -> i64 {
    // Within this time nothing can be said.
    let certain = theirs.0.clamp(sent.0.min(received.0), sent.0.max(received.0));
    certain.saturating_sub(theirs.0)
}

/// Converts to the calendar's type; a time outside its range becomes the nearest end.
pub fn timestamp(at: UnixMillis) -> Timestamp {
    let fallback = if at.0 < 0 { Timestamp::MIN } else { Timestamp::MAX };
    Timestamp::from_millisecond(at.0).unwrap_or(fallback)
}

/// Converts to the protocol's type.
pub fn unix_millis(at: Timestamp) -> UnixMillis {
    UnixMillis(at.as_millisecond())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_delay_of_an_answer_is_no_error_of_the_clock() {
        let ahead = |sent, received, theirs| {
            ahead_ms(UnixMillis(sent), UnixMillis(received), UnixMillis(theirs))
        };
        for theirs in [100, 150, 200] {
            assert_eq!(ahead(100, 200, theirs), 0);
        }
        assert_eq!(ahead(100, 200, 40), 60);
        assert_eq!(ahead(100, 200, 290), -90);
        assert_eq!(ahead(200, 100, 150), 0, "it was set back meanwhile");
        assert_eq!(ahead(i64::MAX, i64::MAX, i64::MIN), i64::MAX);
    }
}
