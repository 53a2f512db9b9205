//! Copies of bundles for agents that became next-nearest: each is sent again until it was stored.

use std::collections::{BTreeMap, VecDeque};

use model::AgentId;

use crate::member::hosts::slots::Slots;
use crate::ownership::HostAtAddress;
use crate::time::Millis;

/// A copy that is to be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BundleCopy {
    pub(super) host: HostAtAddress,
    pub(super) to: AgentId,
    pub(super) number: u64,
}

/// Copies that their receivers have not stored.
#[derive(Debug, Clone, Default)]
pub(crate) struct Copies {
    waiting: BTreeMap<AgentId, VecDeque<BundleCopy>>,
    /// Those on their way by number, each with the time at which it was sent last.
    flying: BTreeMap<u64, (BundleCopy, Millis)>,
    slots: Slots,
}

impl Copies {
    pub(super) fn add(&mut self, copy: BundleCopy) {
        self.waiting.entry(copy.to).or_default().push_back(copy);
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
        for (to, waiting) in &mut self.waiting {
            while self.slots.has_room(*to)
                && let Some(copy) = waiting.pop_front()
            {
                self.slots.take(*to, copy.number);
                self.flying.insert(copy.number, (copy, now));
                due.push(copy);
            }
        }
        self.waiting.retain(|_, waiting| !waiting.is_empty());
        due
    }

    /// Whether all copies were taken or given up.
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.flying.is_empty()
    }

    /// Gives a copy up: its receiver is no next-nearest agent of the host any more.
    pub(super) fn give_up(&mut self, copy: BundleCopy) {
        self.flying.remove(&copy.number);
        self.slots.free(copy.to, copy.number);
    }

    /// The receiver has stored the copy with this number; returns whether there was one.
    pub(super) fn taken(&mut self, from: AgentId, number: u64) -> bool {
        let Some((copy, _)) = self.flying.get(&number).copied() else { return false };
        if copy.to != from {
            return false;
        }
        self.give_up(copy);
        true
    }

    pub(crate) fn next_wakeup(&self, resend_ms: u64) -> Option<Millis> {
        if self.waiting.keys().any(|to| self.slots.has_room(*to)) {
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
        let host = HostAtAddress { position: HostPosition(number), address };
        BundleCopy { host, to: AgentId::new(2), number }
    }

    #[test]
    fn copies_are_repeated_until_taken_and_few_are_on_their_way() {
        let mut copies = Copies::default();
        for number in 1..=1_000 {
            copies.add(copy(number));
        }
        assert_eq!(copies.next_wakeup(50), Some(Millis(0)));
        let flying = copies.due(50, Millis(10)).len();
        assert!((10..500).contains(&flying), "{flying}");
        let mut next = (flying as u64 + 1..).map(copy);
        assert!(copies.due(50, Millis(59)).is_empty());
        assert_eq!(copies.next_wakeup(50), Some(Millis(60)));
        assert!(!copies.taken(AgentId::new(3), 1), "of another receiver");
        assert!(copies.taken(AgentId::new(2), 1));
        assert!(!copies.taken(AgentId::new(2), 1));
        assert_eq!(copies.due(50, Millis(59)), [next.next().unwrap()]);
        let repeated = copies.due(50, Millis(60));
        assert_eq!(repeated.len(), flying - 1);
        for copy in repeated {
            copies.give_up(copy);
        }
        let sent = copies.due(50, Millis(109));
        assert_eq!(sent[1], next.next().unwrap());
        assert_eq!(sent.len(), flying, "the one of before is repeated");
    }

    #[test]
    fn a_receiver_that_takes_no_copies_holds_no_others_up() {
        let mut copies = Copies::default();
        for number in 1..=1_000 {
            copies.add(copy(number));
        }
        copies.due(50, Millis(10));
        let other = BundleCopy { to: AgentId::new(3), ..copy(1_001) };
        copies.add(other);
        assert_eq!(copies.next_wakeup(50), Some(Millis(0)));
        assert_eq!(copies.due(50, Millis(11)), [other]);
    }
}
