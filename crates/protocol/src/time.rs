//! Points in time on the wire.

use serde::{Deserialize, Serialize};

/// Milliseconds since 1970-01-01T00:00:00Z. Comes from a clock at the edge, never from here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct UnixMillis(pub i64);

impl UnixMillis {
    /// How far apart two clocks or events are, in milliseconds, whichever is later.
    pub const fn distance_ms(self, other: Self) -> u64 {
        self.0.abs_diff(other.0)
    }

    /// This point moved by so many milliseconds, saturating at the ends of the scale.
    #[must_use]
    pub const fn plus_ms(self, ms: i64) -> Self {
        Self(self.0.saturating_add(ms))
    }
}
