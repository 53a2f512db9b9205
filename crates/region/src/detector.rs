//! Failure detector: who is believed to be alive, by timeouts (UbiCrawler section 3).
//!
//! Each agent has its own view, and views may differ. An agent that is dead or unreachable is
//! suspected in the end; one that is heard again is trusted again. Agents that announced a sleep
//! are not alive until they are heard.

use std::collections::BTreeMap;

use crate::peer::Peer;
use crate::time::Millis;

/// What is known of one party.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Heard {
    at: Millis,
    /// Announced sleep: not alive from this moment on, whatever else arrives late.
    asleep: bool,
    incarnation: u64,
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
    /// A detector that starts now; nobody is suspected before the timeout has passed once.
    pub fn new(suspect_ms: u64, now: Millis) -> Self {
        Self { suspect_ms, started: now, heard: BTreeMap::new() }
    }

    /// A heartbeat of a process with this incarnation arrived. Returns false for one of a former
    /// process, which says nothing of the present.
    pub fn heard(&mut self, peer: Peer, incarnation: u64, asleep: bool, now: Millis) -> bool {
        let heard = Heard { at: now, asleep, incarnation };
        match self.heard.get_mut(&peer) {
            Some(known) if incarnation < known.incarnation => false,
            Some(known) => {
                *known = heard;
                true
            }
            None => {
                self.heard.insert(peer, heard);
                true
            }
        }
    }

    /// Whether a party announced a sleep and was not heard since.
    pub fn is_asleep(&self, peer: Peer) -> bool {
        self.heard.get(&peer).is_some_and(|heard| heard.asleep)
    }

    /// State of a party.
    pub fn liveness(&self, peer: Peer, now: Millis) -> Liveness {
        match self.heard.get(&peer) {
            Some(heard) if heard.asleep => Liveness::Asleep,
            heard => {
                let at = heard.map_or(self.started, |heard| heard.at);
                if now.since(at) > self.suspect_ms { Liveness::Suspected } else { Liveness::Alive }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silence_is_suspected_and_a_heartbeat_ends_it() {
        let mut detector = Detector::new(100, Millis(1_000));
        let peer = Peer::Coordinator;
        assert_eq!(detector.liveness(peer, Millis(1_100)), Liveness::Alive);
        assert_eq!(detector.liveness(peer, Millis(1_101)), Liveness::Suspected);
        detector.heard(peer, 1, false, Millis(1_200));
        assert_eq!(detector.liveness(peer, Millis(1_300)), Liveness::Alive);
        detector.heard(peer, 1, true, Millis(1_310));
        assert_eq!(detector.liveness(peer, Millis(1_311)), Liveness::Asleep);
        assert_eq!(detector.liveness(peer, Millis(9_999)), Liveness::Asleep);
    }

    #[test]
    fn late_heartbeats_of_a_former_process_do_not_count() {
        let mut detector = Detector::new(100, Millis(0));
        assert!(detector.heard(Peer::Coordinator, 7, false, Millis(10)));
        assert!(!detector.heard(Peer::Coordinator, 6, true, Millis(20)));
        assert_eq!(detector.liveness(Peer::Coordinator, Millis(30)), Liveness::Alive);
    }
}
