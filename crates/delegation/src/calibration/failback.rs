//! Failback: a subnet that left its agent because the path became slow returns when the path has
//! recovered.

use model::policy::CalibrationPolicy;
use model::{AgentId, UnixMillis};
use serde::{Deserialize, Serialize};

/// The former agent of a subnet that was moved because of a slow path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failback {
    /// The agent that had the subnet.
    pub former: AgentId,
    /// Its round trip before the path became slow, in microseconds.
    pub before_us: u32,
    /// When a search last decided for another agent.
    since: UnixMillis,
    /// When the subnet was moved.
    away_since: UnixMillis,
    /// When the former agent last measured.
    last_probe: Option<UnixMillis>,
    /// Good measurements in a row.
    good: u32,
    /// Bad measurements in a row.
    bad: u32,
    /// Measurements in a row that were not reported.
    unreported: u32,
}

/// Good measurements in a row before the subnet goes back.
const MIN_GOOD: u32 = 2;
/// Share by which the former agent must be faster than the present one, so that a subnet does not
/// move back and forth between equal agents.
const MARGIN: f64 = 0.1;
/// Time after which a subnet stays where it is, if its former agent is not nearer by then.
const LONGEST_MS: u64 = 30 * 24 * 3_600_000;
/// The same in windows, of which one or more pass between two measurements.
const MIN_WINDOWS: u64 = 8;
/// Longest pause between two measurements, unless the window is longer.
const LONGEST_PAUSE_MS: u64 = 24 * 3_600_000;

impl Failback {
    /// The failback of a subnet that left `former` at this time.
    pub fn new(former: AgentId, before_us: u32, since: UnixMillis) -> Self {
        Self {
            former,
            before_us,
            since,
            away_since: since,
            last_probe: None,
            good: 0,
            bad: 0,
            unreported: 0,
        }
    }

    /// The failback after a search for the way back has decided for the present agent again.
    #[must_use]
    pub fn after_search(self, at: UnixMillis) -> Self {
        Self { away_since: self.away_since, ..Self::new(self.former, self.before_us, at) }
    }

    /// Whether the former agent must probe the subnet now: after a window, and after twice as long
    /// with each measurement that is bad or missing, up to a day. Otherwise a path that has changed
    /// permanently would be measured every hour for ever.
    pub fn is_due(&self, policy: &CalibrationPolicy, at: UnixMillis) -> bool {
        let doublings = self.bad.saturating_add(self.unreported).min(31);
        let doubled = policy.window_ms().saturating_mul(1 << doublings);
        let pause_ms = doubled.min(LONGEST_PAUSE_MS.max(policy.window_ms()));
        at.distance_ms(self.last_probe.unwrap_or(self.since)) >= pause_ms
    }

    /// Whether the subnet has been away for so long that it stays. After a good measurement just
    /// before the end there is time for another one.
    pub fn is_over(&self, policy: &CalibrationPolicy, at: UnixMillis) -> bool {
        let away_ms = at.distance_ms(self.away_since);
        let windows_ms = policy.window_ms().saturating_mul(MIN_WINDOWS);
        let rest_ms = policy.rest_ms().saturating_mul(2);
        let longest_ms = LONGEST_MS.max(windows_ms).max(rest_ms);
        away_ms >= longest_ms && (self.good == 0 || away_ms >= 2 * longest_ms)
    }

    /// Records that the former agent was asked and did not report, which says nothing about the
    /// path.
    pub fn not_reported(&mut self, at: UnixMillis) {
        self.last_probe = Some(at);
        self.unreported = self.unreported.saturating_add(1);
    }

    /// Records that the former agent measured `probe_us` and the present one lately `present_us`.
    /// True when the subnet's search must be reopened with both measurements: twice in a row the
    /// path was as before (in proportion nearer to the former time than to the slowdown times it)
    /// and faster than the present one, and the policy allows it.
    pub fn observe(
        &mut self,
        policy: &CalibrationPolicy,
        probe_us: u32,
        present_us: u32,
        at: UnixMillis,
    ) -> bool {
        self.last_probe = Some(at);
        self.unreported = 0;
        let factor = policy.slowdown.factor().max(1.0);
        let as_before = f64::from(probe_us) < f64::from(self.before_us) * factor.sqrt();
        let faster = f64::from(probe_us) < f64::from(present_us) * (1.0 - MARGIN);
        let is_good = as_before && faster;
        self.good = if is_good { self.good.saturating_add(1) } else { 0 };
        self.bad = if is_good { 0 } else { self.bad.saturating_add(1) };
        self.good >= MIN_GOOD && at.distance_ms(self.since) >= policy.rest_ms()
    }
}
