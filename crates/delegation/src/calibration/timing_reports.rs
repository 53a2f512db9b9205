//! The reports of a subnet's pages, weighed together.

use model::{IncidentCause, UnixMillis};
use serde::{Deserialize, Serialize};

/// How often a subnet may move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReopenLimits {
    /// At least this long from one delegation to the next search for the same subnet, in
    /// milliseconds.
    pub min_interval_ms: u64,
    /// Reports are weighed together over this long, in milliseconds.
    pub window_ms: u64,
}

impl Default for ReopenLimits {
    /// A day, and an hour.
    fn default() -> Self {
        Self { min_interval_ms: 24 * 3_600_000, window_ms: 3_600_000 }
    }
}

/// What was heard of one subnet lately.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimingReports {
    begun: Option<UnixMillis>,
    slower: u32,
    usual: u32,
    decided: Option<UnixMillis>,
}

impl TimingReports {
    /// The subnet was delegated, at this time, to whomever.
    pub fn delegated(&mut self, at: UnixMillis) {
        *self = Self { decided: Some(at), ..Self::default() };
    }

    /// A page was fetched as fast as usual.
    pub fn usual(&mut self, rest: &ReopenLimits, at: UnixMillis) {
        self.begin(rest, at);
        self.usual = self.usual.saturating_add(1);
    }

    /// A page was reported slower. True when the subnet's search shall be opened again: at least
    /// half of what was heard lately is slower, and the last delegation has had its rest.
    pub fn slower(&mut self, rest: &ReopenLimits, at: UnixMillis) -> bool {
        self.begin(rest, at);
        self.slower = self.slower.saturating_add(1);
        let rested =
            self.decided.is_none_or(|decided| at.distance_ms(decided) >= rest.min_interval_ms);
        rested && self.slower >= self.usual
    }

    fn begin(&mut self, rest: &ReopenLimits, at: UnixMillis) {
        if self.begun.is_none_or(|begun| at.distance_ms(begun) > rest.window_ms) {
            *self = Self { begun: Some(at), slower: 0, usual: 0, decided: self.decided };
        }
    }
}

/// Why pages are slower, by a probe of a second agent: `before_ms` is what that agent measured or
/// was predicted to measure when all was well, `now_ms` what it measures now. Half of the own
/// slowdown `ratio`, in proportion, divides the two.
pub fn cause(ratio: f64, before_ms: f64, now_ms: f64) -> IncidentCause {
    if now_ms / before_ms.max(0.1) >= ratio.max(1.0).sqrt() {
        IncidentCause::Server
    } else {
        IncidentCause::Path
    }
}
