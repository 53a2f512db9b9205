//! Timing reports of the pages of one subnet, judged together.

use model::policy::CalibrationPolicy;
use model::{IncidentCause, UnixMillis};
use serde::{Deserialize, Serialize};

/// Counts of the latest reports on one subnet.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimingReports {
    /// When the present window began.
    window_start: Option<UnixMillis>,
    slower: u32,
    usual: u32,
    /// When the subnet was last delegated.
    delegated_at: Option<UnixMillis>,
}

impl TimingReports {
    /// Starts again: the subnet was delegated at this time.
    pub fn delegated(&mut self, at: UnixMillis) {
        *self = Self { delegated_at: Some(at), ..Self::default() };
    }

    /// Whether the last delegation is old enough for the subnet's search to be reopened.
    pub fn may_reopen(&self, policy: &CalibrationPolicy, at: UnixMillis) -> bool {
        let since_ms = self.delegated_at.map(|delegated| at.distance_ms(delegated));
        since_ms.is_none_or(|since_ms| since_ms >= policy.rest_ms())
    }

    /// Counts a page that took its usual time.
    pub fn usual(&mut self, policy: &CalibrationPolicy, at: UnixMillis) {
        self.begin(policy, at);
        self.usual = self.usual.saturating_add(1);
    }

    /// Counts a page that was slower. True when the subnet's search must be reopened: at least half
    /// of the reports in the window are slower, and the last delegation is old enough.
    pub fn slower(&mut self, policy: &CalibrationPolicy, at: UnixMillis) -> bool {
        self.begin(policy, at);
        self.slower = self.slower.saturating_add(1);
        self.may_reopen(policy, at) && self.slower >= self.usual
    }

    fn begin(&mut self, policy: &CalibrationPolicy, at: UnixMillis) {
        if self.window_start.is_none_or(|start| at.distance_ms(start) > policy.window_ms()) {
            *self = Self {
                window_start: Some(at),
                slower: 0,
                usual: 0,
                delegated_at: self.delegated_at,
            };
        }
    }
}

/// The cause of an incident by a probe of a second agent: `before_ms` is what that agent measured
/// or was predicted to measure before, `now_ms` what it measures now. The square root of the
/// slowdown `ratio`, half of it in proportion, separates the two causes.
pub fn cause(ratio: f64, before_ms: f64, now_ms: f64) -> IncidentCause {
    if now_ms / before_ms.max(0.1) >= ratio.max(1.0).sqrt() {
        IncidentCause::Server
    } else {
        IncidentCause::Path
    }
}
