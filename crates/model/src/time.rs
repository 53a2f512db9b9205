//! Points in time.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A day in milliseconds.
pub const DAY_MS: i64 = 24 * 3_600_000;

/// Milliseconds since 1970-01-01T00:00:00Z. A clock at the edge reads it, never this crate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct UnixMillis(pub i64);

impl UnixMillis {
    /// The time between two points, in milliseconds, in whichever order they are.
    pub const fn distance_ms(self, other: Self) -> u64 {
        self.0.abs_diff(other.0)
    }

    /// This point moved by `ms`, saturating at the ends of the scale.
    #[must_use]
    pub const fn plus_ms(self, ms: i64) -> Self {
        Self(self.0.saturating_add(ms))
    }

    /// This point moved by `duration` in whole milliseconds, saturating at the end of the scale.
    #[must_use]
    pub fn plus(self, duration: Duration) -> Self {
        self.plus_ms(i64::try_from(duration.as_millis()).unwrap_or(i64::MAX))
    }
}
