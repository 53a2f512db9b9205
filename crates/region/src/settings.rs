//! Times and bounds of a member, the same for all members of a region.

use serde::{Deserialize, Serialize};

use crate::time::Drift;

/// Settings of a region's members. Defaults are those of the product.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Interval of heartbeats between agents.
    pub heartbeat_ms: u64,
    /// An agent that was silent for this long is suspected.
    pub suspect_ms: u64,
    /// Term of a lease.
    pub term_ms: u64,
    /// Interval of renewals.
    pub renew_ms: u64,
    /// Longest fetch. One that begins under a lease must end before the lease does.
    pub fetch_ms: u64,
    /// Pause after the last fetch of a host's former agent: the longest delay between two requests
    /// to a host.
    pub gap_ms: u64,
    /// Bound on the error of clocks.
    pub drift: Drift,
    /// URLs are collected for this long before a batch is sent.
    pub linger_ms: u64,
    /// What was not acknowledged is sent again after this time. The interval doubles with each
    /// repetition of a bundle.
    pub resend_ms: u64,
    /// Longest wait for the bundles of a host that was taken over.
    pub recovery_ms: u64,
    /// Most URLs that wait for their owners.
    pub waiting_urls: usize,
    /// Hosts whose owner is checked in one step after a change.
    pub hosts_a_step: usize,
}

/// How often the interval doubles in which a bundle is sent again: from 15 seconds to four minutes.
const MOST_DOUBLINGS: u32 = 4;

impl Default for Settings {
    fn default() -> Self {
        Self {
            heartbeat_ms: 10_000,
            suspect_ms: 35_000,
            term_ms: 120_000,
            renew_ms: 20_000,
            fetch_ms: 60_000,
            gap_ms: 10_000,
            drift: Drift { ppm: 500 },
            linger_ms: 1_000,
            resend_ms: 15_000,
            recovery_ms: 30_000,
            waiting_urls: 100_000,
            hosts_a_step: 2_000,
        }
    }
}

impl Settings {
    /// Why a region could not work with these settings, and what to do; none if it could. It keeps
    /// them as long as it exists.
    pub fn problem(&self) -> Option<String> {
        let at_least_one = [
            ("heartbeat_ms", self.heartbeat_ms),
            ("suspect_ms", self.suspect_ms),
            ("term_ms", self.term_ms),
            ("renew_ms", self.renew_ms),
            ("fetch_ms", self.fetch_ms),
            ("gap_ms", self.gap_ms),
            ("resend_ms", self.resend_ms),
            ("waiting_urls", self.waiting_urls as u64),
            ("hosts_a_step", self.hosts_a_step as u64),
        ];
        if let Some((key, _)) = at_least_one.iter().find(|(_, value)| *value == 0) {
            return Some(format!("{key} must be at least 1"));
        }
        if self.suspect_ms <= self.heartbeat_ms {
            return Some("suspect_ms must be more than heartbeat_ms".to_owned());
        }
        // A fetch must end before its lease does, also one that begins just before a renewal.
        let term = self.drift.at_most(self.term_ms);
        if self.fetch_ms.saturating_add(self.renew_ms) >= term {
            return Some(format!(
                "fetch_ms and renew_ms together must be less than term_ms ({term} after `drift`), \
                 else agents may fetch nothing: raise term_ms, or lower fetch_ms"
            ));
        }
        None
    }

    /// How long a voter keeps a promise: at least the term, and the pause after the last fetch.
    pub fn promise_ms(&self) -> u64 {
        self.drift.at_least(self.term_ms.saturating_add(self.gap_ms))
    }

    /// Time until a bundle is sent again that was sent this many times. Over a slow line a bundle
    /// may take minutes, and repetitions would delay all others.
    pub fn bundle_resend_ms(&self, times_sent: u32) -> u64 {
        let doublings = times_sent.saturating_sub(1).min(MOST_DOUBLINGS);
        self.resend_ms.saturating_mul(1 << doublings)
    }

    /// How long after a new claim no fetch runs under the one before, with the pause.
    pub fn drain_ms(&self) -> u64 {
        self.drift.at_least(self.fetch_ms.saturating_add(self.gap_ms))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_region_could_not_work_with_these_settings() {
        let shipped = Settings::default();
        assert_eq!(shipped.problem(), None);
        for (settings, key) in [
            (Settings { hosts_a_step: 0, ..shipped }, "hosts_a_step"),
            (Settings { heartbeat_ms: 0, ..shipped }, "heartbeat_ms"),
            (Settings { renew_ms: 0, ..shipped }, "renew_ms"),
            (Settings { suspect_ms: 10_000, ..shipped }, "suspect_ms"),
            (Settings { fetch_ms: 150_000, ..shipped }, "fetch_ms"),
            (Settings { fetch_ms: 100_000, ..shipped }, "fetch_ms"),
            (Settings { renew_ms: u64::MAX, ..shipped }, "renew_ms"),
            (Settings { drift: Drift { ppm: 500_000 }, ..shipped }, "drift"),
        ] {
            let problem = settings.problem().unwrap_or_default();
            assert!(problem.contains(key), "{key}: {problem:?}");
        }
    }
}
