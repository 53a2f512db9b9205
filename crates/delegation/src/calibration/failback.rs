//! The way back: a subnet that left its agent because the way became slow returns when the way is
//! as it was.

use model::{AgentId, UnixMillis};
use serde::{Deserialize, Serialize};

use super::ReopenLimits;

/// A subnet's former agent, remembered since it was moved for slowness.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failback {
    /// Who had it.
    pub former: AgentId,
    /// What a probe of the former agent took before it became slow, in microseconds.
    pub before_us: u32,
    since: UnixMillis,
    asked: Option<UnixMillis>,
    good: u32,
}

/// Good answers in a row before the subnet goes back.
const PROOFS: u32 = 2;
/// The former agent must be faster than the present one by this share, so that equals do not swap
/// to and fro.
const MARGIN: f64 = 0.1;

impl Failback {
    /// The subnet left `former` at this time.
    pub fn new(former: AgentId, before_us: u32, since: UnixMillis) -> Self {
        Self { former, before_us, since, asked: None, good: 0 }
    }

    /// Whether the former agent shall probe the subnet now: once in each of the policy's windows.
    pub fn is_due(&self, rest: &ReopenLimits, at: UnixMillis) -> bool {
        at.distance_ms(self.asked.unwrap_or(self.since)) >= rest.window_ms
    }

    /// The former agent measured `probe_us`, the present one lately `present_us`. True when the
    /// subnet's search shall be opened again with both measurements: twice in a row the way was as
    /// before (nearer to the former time than to `factor` times it) and faster than the present
    /// one, and the last delegation has had its rest.
    pub fn observe(
        &mut self,
        rest: &ReopenLimits,
        factor: f64,
        probe_us: u32,
        present_us: u32,
        at: UnixMillis,
    ) -> bool {
        self.asked = Some(at);
        let as_before = f64::from(probe_us) < f64::from(self.before_us) * factor.max(1.0).sqrt();
        let faster = f64::from(probe_us) < f64::from(present_us) * (1.0 - MARGIN);
        self.good = if as_before && faster { self.good.saturating_add(1) } else { 0 };
        self.good >= PROOFS && at.distance_ms(self.since) >= rest.min_interval_ms
    }
}
