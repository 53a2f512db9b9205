//! Copies of bundles for agents that became next-nearest: each is sent again until its receiver has
//! stored it. A bounded number is on its way at a time, since a death may concern every host.

use std::collections::{BTreeMap, VecDeque};

use model::AgentId;

use crate::ownership::PlacedHost;
use crate::time::Millis;

/// Most copies on their way.
const FLYING: usize = 100;

/// A copy that is to be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BundleCopy {
    pub(super) host: PlacedHost,
    pub(super) to: AgentId,
    pub(super) number: u64,
}

/// Copies that their receivers have not stored.
#[derive(Debug, Clone, Default)]
pub(crate) struct Copies {
    waiting: VecDeque<BundleCopy>,
    /// Those on their way by number, each with the time at which it was sent last.
    flying: BTreeMap<u64, (BundleCopy, Millis)>,
}

impl Copies {
    pub(super) fn add(&mut self, copy: BundleCopy) {
        self.waiting.push_back(copy);
    }

    /// Copies that are to be sent now.
    pub(super) fn due(&mut self, resend_ms: u64, now: Millis) -> Vec<BundleCopy> {
        let mut due = Vec::new();
        for (copy, sent) in self.flying.values_mut() {
            if now.since(*sent) >= resend_ms {
                *sent = now;
                due.push(*copy);
            }
        }
        while self.flying.len() < FLYING
            && let Some(copy) = self.waiting.pop_front()
        {
            self.flying.insert(copy.number, (copy, now));
            due.push(copy);
        }
        due
    }

    /// Whether all copies were taken or given up.
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.flying.is_empty()
    }

    /// Gives a copy up: its receiver is no next-nearest agent of the host any more.
    pub(super) fn give_up(&mut self, copy: BundleCopy) {
        self.flying.remove(&copy.number);
    }

    /// The receiver has stored the copy with this number; returns whether there was one.
    pub(super) fn taken(&mut self, from: AgentId, number: u64) -> bool {
        let is_flying = self.flying.get(&number).is_some_and(|(copy, _)| copy.to == from);
        is_flying && self.flying.remove(&number).is_some()
    }

    pub(crate) fn next_wakeup(&self, resend_ms: u64) -> Option<Millis> {
        if !self.waiting.is_empty() && self.flying.len() < FLYING {
            return Some(Millis(0));
        }
        self.flying.values().map(|(_, sent)| sent.plus(resend_ms)).min()
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::*;
    use crate::ownership::HostPosition;

    fn copy(number: u64) -> BundleCopy {
        let address = IpAddr::from([10, 0, 0, 1]);
        let host = PlacedHost { position: HostPosition(number), address };
        BundleCopy { host, to: AgentId::new(2), number }
    }

    #[test]
    fn copies_are_repeated_until_taken_and_few_are_on_their_way() {
        let mut copies = Copies::default();
        for number in 1..=FLYING as u64 + 1 {
            copies.add(copy(number));
        }
        assert_eq!(copies.next_wakeup(50), Some(Millis(0)));
        assert_eq!(copies.due(50, Millis(10)).len(), FLYING);
        assert!(copies.due(50, Millis(59)).is_empty());
        assert_eq!(copies.next_wakeup(50), Some(Millis(60)));
        assert!(!copies.taken(AgentId::new(3), 1), "of another receiver");
        assert!(copies.taken(AgentId::new(2), 1));
        assert!(!copies.taken(AgentId::new(2), 1));
        assert_eq!(copies.due(50, Millis(59)), [copy(FLYING as u64 + 1)]);
        let repeated = copies.due(50, Millis(60));
        assert_eq!(repeated.len(), FLYING - 1);
        for copy in repeated {
            copies.give_up(copy);
        }
        assert_eq!(copies.due(50, Millis(109)), [copy(FLYING as u64 + 1)]);
    }
}
