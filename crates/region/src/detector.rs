//! Failure detector: which agents are alive, by timeouts (UbiCrawler section 3).
//!
//! Each agent has its own view, and views may differ. An agent that is dead or unreachable is
//! suspected after a timeout, and trusted again once it is heard. An agent that announced a sleep
//! is not alive until it is heard again. It is suspected if it is still silent long after the end
//! of its sleep.

use std::collections::BTreeMap;

use crate::message::{Heartbeat, SerialNumber};
use crate::peer::Peer;
use crate::time::Millis;

/// How long after its sleep an agent may be silent: many machines are turned on late.
const OVERSLEEP_MS: u64 = 3_600_000;

/// What is known of one party.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Heard {
    at: Millis,
    /// End of an announced sleep. Until its next heartbeat the agent is not alive, also after the
    /// end.
    asleep_until: Option<Millis>,
    number: SerialNumber,
}

/// State of a party as this agent sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Liveness {
    /// Heard within the timeout.
    Alive,
    /// Silent for longer than the timeout.
    Suspected,
    /// Announced a sleep and was not heard since.
    Asleep,
}

/// The view of one agent.
#[derive(Debug, Clone)]
pub struct Detector {
    suspect_ms: u64,
    started: Millis,
    heard: BTreeMap<Peer, Heard>,
}

impl Detector {
    /// A detector that starts now; no agent is suspected before the timeout has passed once.
    pub fn new(suspect_ms: u64, now: Millis) -> Self {
        Self { suspect_ms, started: now, heard: BTreeMap::new() }
    }

    /// A heartbeat arrived, which may announce a sleep. Returns false for one that was sent before
    /// another one that has arrived: it says nothing of the present.
    pub fn heard(&mut self, peer: Peer, heartbeat: &Heartbeat, now: Millis) -> bool {
        let number = heartbeat.number;
        if self.heard.get(&peer).is_some_and(|known| number <= known.number) {
            return false;
        }
        let asleep_until = heartbeat.sleep_ms.map(|sleep_ms| now.plus(sleep_ms));
        self.heard.insert(peer, Heard { at: now, asleep_until, number });
        true
    }

    /// State of a party.
    pub fn liveness(&self, peer: Peer, now: Millis) -> Liveness {
        let heard = self.heard.get(&peer);
        if let Some(until) = heard.and_then(|heard| heard.asleep_until) {
            let is_overdue = now.since(until) > OVERSLEEP_MS;
            return if is_overdue { Liveness::Suspected } else { Liveness::Asleep };
        }
        let at = heard.map_or(self.started, |heard| heard.at);
        if now.since(at) > self.suspect_ms { Liveness::Suspected } else { Liveness::Alive }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::roster::Version;

    /// The heartbeat with this number of a process.
    fn heartbeat(incarnation: u64, count: u64, sleep_ms: Option<u64>) -> Heartbeat {
        let version = Version::default();
        let number = SerialNumber { incarnation, count };
        Heartbeat { number, version, floor: version, sleep_ms }
    }

    #[test]
    fn silence_is_suspected_and_a_heartbeat_ends_it() {
        let mut detector = Detector::new(100, Millis(1_000));
        let peer = Peer::Coordinator;
        assert_eq!(detector.liveness(peer, Millis(1_100)), Liveness::Alive);
        assert_eq!(detector.liveness(peer, Millis(1_101)), Liveness::Suspected);
        detector.heard(peer, &heartbeat(1, 1, None), Millis(1_200));
        assert_eq!(detector.liveness(peer, Millis(1_300)), Liveness::Alive);
    }

    #[test]
    fn a_sleep_is_believed_until_long_after_its_end() {
        let mut detector = Detector::new(100, Millis(1_000));
        let peer = Peer::Coordinator;
        detector.heard(peer, &heartbeat(1, 1, Some(5_000)), Millis(1_310));
        let overdue = Millis(1_310 + 5_000 + OVERSLEEP_MS + 1);
        for now in [Millis(1_310), Millis(9_999), Millis(overdue.0 - 1)] {
            assert_eq!(detector.liveness(peer, now), Liveness::Asleep, "{now:?}");
        }
        assert_eq!(detector.liveness(peer, overdue), Liveness::Suspected);
        detector.heard(peer, &heartbeat(1, 2, Some(5_000)), overdue);
        assert_eq!(detector.liveness(peer, overdue), Liveness::Asleep, "it sleeps longer");
        detector.heard(peer, &heartbeat(1, 3, Some(u64::MAX)), overdue);
        assert_eq!(detector.liveness(peer, Millis(u64::MAX)), Liveness::Asleep);
    }

    #[test]
    fn late_heartbeats_of_a_former_process_do_not_count() {
        let mut detector = Detector::new(100, Millis(0));
        let peer = Peer::Coordinator;
        assert!(detector.heard(peer, &heartbeat(7, 1, None), Millis(10)));
        assert!(!detector.heard(peer, &heartbeat(6, 9, Some(1)), Millis(20)));
        assert_eq!(detector.liveness(peer, Millis(30)), Liveness::Alive);
    }

    #[test]
    fn heartbeats_that_a_later_one_overtook_do_not_count() {
        let mut detector = Detector::new(100, Millis(0));
        let peer = Peer::Coordinator;
        assert!(detector.heard(peer, &heartbeat(7, 2, Some(5_000)), Millis(10)));
        for late in [heartbeat(7, 1, None), heartbeat(7, 2, Some(5_000))] {
            assert!(!detector.heard(peer, &late, Millis(20)), "{late:?}");
        }
        assert_eq!(detector.liveness(peer, Millis(30)), Liveness::Asleep);
        assert!(detector.heard(peer, &heartbeat(7, 3, None), Millis(40)));
        assert_eq!(detector.liveness(peer, Millis(50)), Liveness::Alive, "it works again");
    }
}
