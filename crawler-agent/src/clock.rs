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
    now().plus_ms(i64::try_from(pause.as_millis()).unwrap_or(i64::MAX).saturating_add(1))
}

/// The time until a stored point; zero also where the point is wrong.
pub fn until_stored(at: UnixMillis) -> Duration {
    if is_wrong(at, now()) { Duration::ZERO } else { until(at) }
}

/// Longest time from now to a stored time: no pause and no validity is longer, in milliseconds.
pub const LONGEST_AHEAD_MS: i64 = 24 * 3_600 * 1_000;

/// Whether a stored time is so far ahead of `now` that the clock was wrong when it was stored.
pub const fn is_wrong(stored: UnixMillis, now: UnixMillis) -> bool {
    stored.0 > now.plus_ms(LONGEST_AHEAD_MS).0
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
