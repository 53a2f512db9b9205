//! Copies of bundles for agents that became next-nearest: each is sent again until it was stored.

use std::collections::BTreeMap;

use model::AgentId;

use crate::member::hosts::slot_queue::SlotQueue;
use crate::ownership::HostAtAddress;
use crate::settings::Settings;
use crate::time::Millis;

/// A copy that is to be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BundleCopy {
    pub(super) host: HostAtAddress,
    pub(super) to: AgentId,
    pub(super) number: u64,
}

/// A copy on its way.
#[derive(Debug, Clone, Copy)]
struct FlyingCopy {
    copy: BundleCopy,
    /// When it was sent last, and how often it was.
    sent: Millis,
    times_sent: u32,
}

impl FlyingCopy {
    fn due(&self, settings: &Settings) -> Millis {
        self.sent.plus(settings.bundle_resend_ms(self.times_sent))
    }
}

/// Copies that their receivers have not stored.
#[derive(Debug, Clone, Default)]
pub(crate) struct Copies {
    queue: SlotQueue<BundleCopy>,
    /// Those on their way by number.
    flying: BTreeMap<u64, FlyingCopy>,
}

impl Copies {
    pub(super) fn add(&mut self, copy: BundleCopy) {
        self.queue.add(copy.to, copy.number, copy);
    }

    /// Copies that are to be sent now.
    pub(super) fn due(&mut self, settings: &Settings, now: Millis) -> Vec<BundleCopy> {
        let mut due = Vec::new();
        for flying in self.flying.values_mut() {
            if flying.due(settings) <= now {
                flying.sent = now;
                flying.times_sent = flying.times_sent.saturating_add(1);
                due.push(flying.copy);
            }
        }
        for (number, copy) in self.queue.begin() {
            self.flying.insert(number, FlyingCopy { copy, sent: now, times_sent: 1 });
            due.push(copy);
        }
        due
    }

    /// Whether all copies were taken or given up.
    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty() && self.flying.is_empty()
    }

    /// Gives a copy up: its receiver is no next-nearest agent of the host any more.
    pub(super) fn give_up(&mut self, copy: BundleCopy) {
        self.flying.remove(&copy.number);
        self.queue.end(copy.to, copy.number);
    }

    /// The receiver has stored the copy with this number; returns whether there was one.
    pub(super) fn taken(&mut self, from: AgentId, number: u64) -> bool {
        let Some(copy) = self.flying.get(&number).map(|flying| flying.copy) else { return false };
        if copy.to != from {
            return false;
        }
        self.give_up(copy);
        true
    }

    /// A copy was packed.
    pub(super) fn weigh(&mut self, to: AgentId, number: u64, bytes: usize) {
        self.queue.weigh(to, number, bytes);
    }

    pub(crate) fn next_wakeup(&self, settings: &Settings) -> Option<Millis> {
        if self.queue.may_begin() {
            return Some(Millis(0));
        }
        self.flying.values().map(|flying| flying.due(settings)).min()
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

    /// Settings with which what was not acknowledged is sent again after 50 milliseconds.
    fn settings() -> Settings {
        Settings { resend_ms: 50, ..Settings::default() }
    }

    #[test]
    fn copies_are_repeated_until_taken_and_few_are_on_their_way() {
        let mut copies = Copies::default();
        for number in 1..=1_000 {
            copies.add(copy(number));
        }
        assert_eq!(copies.next_wakeup(&settings()), Some(Millis(0)));
        let flying = copies.due(&settings(), Millis(10)).len();
        assert!((10..500).contains(&flying), "{flying}");
        let mut next = (flying as u64 + 1..).map(copy);
        assert!(copies.due(&settings(), Millis(59)).is_empty());
        assert_eq!(copies.next_wakeup(&settings()), Some(Millis(60)));
        assert!(!copies.taken(AgentId::new(3), 1), "of another receiver");
        assert!(copies.taken(AgentId::new(2), 1));
        assert!(!copies.taken(AgentId::new(2), 1));
        assert_eq!(copies.due(&settings(), Millis(59)), [next.next().unwrap()]);
        let repeated = copies.due(&settings(), Millis(60));
        assert_eq!(repeated.len(), flying - 1);
        for copy in repeated {
            copies.give_up(copy);
        }
        let sent = copies.due(&settings(), Millis(109));
        assert_eq!(sent[1], next.next().unwrap());
        assert_eq!(sent.len(), flying, "the one of before is repeated");
    }

    #[test]
    fn a_copy_that_is_not_taken_is_repeated_at_growing_intervals() {
        let mut copies = Copies::default();
        copies.add(copy(1));
        let sent: Vec<u64> =
            (0..5_000).filter(|ms| !copies.due(&settings(), Millis(*ms)).is_empty()).collect();
        assert_eq!(sent, [0, 50, 150, 350, 750, 1_550, 2_350, 3_150, 3_950, 4_750]);
    }

    #[test]
    fn a_receiver_that_takes_no_copies_holds_no_others_up() {
        let mut copies = Copies::default();
        for number in 1..=1_000 {
            copies.add(copy(number));
        }
        copies.due(&settings(), Millis(10));
        let other = BundleCopy { to: AgentId::new(3), ..copy(1_001) };
        copies.add(other);
        assert_eq!(copies.next_wakeup(&settings()), Some(Millis(0)));
        assert_eq!(copies.due(&settings(), Millis(11)), [other]);
    }
}
