//! Failback: a subnet that left its agent because the path became slow returns when the path has
//! recovered.

use model::{AgentId, UnixMillis};
use serde::{Deserialize, Serialize};

use super::ReopenLimits;

/// The former agent of a subnet that was moved because of a slow path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failback {
    /// The agent that had the subnet.
    pub former: AgentId,
    /// Its round trip before the path became slow, in microseconds.
    pub before_us: u32,
    /// When the subnet was moved.
    since: UnixMillis,
    /// When the former agent last measured.
    last_probe: Option<UnixMillis>,
    /// Good measurements in a row.
    good: u32,
    /// Bad measurements in a row.
    #[serde(default)]
    bad: u32,
}

/// Good measurements in a row before the subnet goes back.
const MIN_GOOD: u32 = 2;
/// Share by which the former agent must be faster than the present one, so that a subnet does not
/// move to and fro between equal agents.
const MARGIN: f64 = 0.1;
/// Longest pause between two measurements, unless the window is longer.
const LONGEST_PAUSE_MS: u64 = 24 * 3_600_000;

impl Failback {
    /// The failback of a subnet that left `former` at this time.
    pub fn new(former: AgentId, before_us: u32, since: UnixMillis) -> Self {
        Self { former, before_us, since, last_probe: None, good: 0, bad: 0 }
    }

    /// Whether the former agent shall probe the subnet now: after a window, and after twice as long
    /// with each bad measurement, at last once a day. A path that has changed for good would be
    /// measured each hour for ever.
    pub fn is_due(&self, limits: &ReopenLimits, at: UnixMillis) -> bool {
        let doubled = limits.window_ms.saturating_mul(1 << self.bad.min(31));
        let pause_ms = doubled.min(LONGEST_PAUSE_MS.max(limits.window_ms));
        at.distance_ms(self.last_probe.unwrap_or(self.since)) >= pause_ms
    }

    /// Records that the former agent measured `probe_us` and the present one lately `present_us`.
    /// True when the subnet's search shall be reopened with both measurements: twice in a row the
    /// path was as before (in proportion nearer to the former time than to `factor` times it) and
    /// faster than the present one, and the limits allow it.
    pub fn observe(
        &mut self,
        limits: &ReopenLimits,
        factor: f64,
        probe_us: u32,
        present_us: u32,
        at: UnixMillis,
    ) -> bool {
        self.last_probe = Some(at);
        let as_before = f64::from(probe_us) < f64::from(self.before_us) * factor.max(1.0).sqrt();
        let faster = f64::from(probe_us) < f64::from(present_us) * (1.0 - MARGIN);
        let is_good = as_before && faster;
        self.good = if is_good { self.good.saturating_add(1) } else { 0 };
        self.bad = if is_good { 0 } else { self.bad.saturating_add(1) };
        self.good >= MIN_GOOD && at.distance_ms(self.since) >= limits.min_interval_ms
    }
}
