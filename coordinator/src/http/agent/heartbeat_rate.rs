//! Rate of heartbeats: an agent that is answered at once must not ask again without a pause.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use model::AgentId;

/// Time between heartbeats in the long run.
const INTERVAL: Duration = Duration::from_millis(50);
/// Heartbeats may come so much earlier than that: 40 of them in a row.
const BURST: Duration = Duration::from_secs(2);
/// A heartbeat waits no longer, however many came before.
const LONGEST_WAIT: Duration = Duration::from_secs(10);

/// When the next heartbeat of each agent is due, if they come at the interval.
#[derive(Debug, Default)]
pub(super) struct HeartbeatRate(Mutex<HashMap<AgentId, Instant>>);

impl HeartbeatRate {
    /// How long the coordinator waits before it serves a heartbeat that came now.
    pub(super) fn wait(&self, agent: AgentId, now: Instant) -> Duration {
        let mut due = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let next = due.entry(agent).or_insert(now);
        *next = (*next).clamp(now, now + BURST + LONGEST_WAIT);
        let wait = next.saturating_duration_since(now + BURST);
        *next += INTERVAL;
        wait
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heartbeats_beyond_a_burst_come_at_the_interval() {
        let rate = HeartbeatRate::default();
        let agent = AgentId::new(1);
        let now = Instant::now();
        let waits: Vec<Duration> = (0..44).map(|_| rate.wait(agent, now)).collect();
        assert!(waits[..41].iter().all(Duration::is_zero), "{waits:?}");
        assert_eq!(waits[41..], [INTERVAL, 2 * INTERVAL, 3 * INTERVAL]);
        assert_eq!(rate.wait(AgentId::new(2), now), Duration::ZERO, "another agent");
        assert_eq!(rate.wait(agent, now + 2 * INTERVAL), 2 * INTERVAL);
        let later = now + 3 * BURST;
        assert!((0..41).all(|_| rate.wait(agent, later).is_zero()), "it has rested");
        let longest = (0..10_000).map(|_| rate.wait(agent, later)).max();
        assert_eq!(longest, Some(LONGEST_WAIT));
    }
}
