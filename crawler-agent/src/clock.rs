//! What time is it? The only place that asks; everything that decides takes times as arguments.

use std::time::{SystemTime, UNIX_EPOCH};

use jiff::Timestamp;
use model::UnixMillis;

/// The wall clock now.
pub fn now() -> UnixMillis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    UnixMillis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// The same moment as the calendar knows it; the ends of its range for moments outside.
pub fn timestamp(at: UnixMillis) -> Timestamp {
    let fallback = if at.0 < 0 { Timestamp::MIN } else { Timestamp::MAX };
    Timestamp::from_millisecond(at.0).unwrap_or(fallback)
}

/// The same moment as the protocol knows it.
pub fn unix_millis(at: Timestamp) -> UnixMillis {
    UnixMillis(at.as_millisecond())
}
