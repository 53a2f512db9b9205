//! Packets in flight, ordered by due time. The order between two addresses is kept.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::time::Instant;

use super::packet::PacketEnds;

/// Pairs of addresses remembered before those without a packet on the way are forgotten.
const REMEMBERED_PAIRS: usize = 65_536;

/// A packet that is due somewhere.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Departure {
    due: Instant,
    /// Breaks ties in the order of arrival.
    number: u64,
    /// Index of the device that the packet goes to.
    pub(super) device: usize,
    pub(super) packet: Vec<u8>,
}

impl Departure {
    /// When it should be delivered.
    pub(super) fn due(&self) -> Instant {
        self.due
    }
}

/// The packets on their way.
#[derive(Debug, Default)]
pub(super) struct Queue {
    heap: BinaryHeap<Reverse<Departure>>,
    latest: HashMap<PacketEnds, Instant>,
    number: u64,
}

impl Queue {
    /// Takes a packet that should arrive at `due`, or right behind the one sent before it between
    /// the same ends, whichever is later: TCP would take reordering for loss.
    pub(super) fn push(
        &mut self,
        ends: PacketEnds,
        due: Instant,
        now: Instant,
        device: usize,
        packet: Vec<u8>,
    ) {
        if self.latest.len() >= REMEMBERED_PAIRS {
            self.latest.retain(|_, latest| *latest > now);
        }
        let latest = self.latest.entry(ends).or_insert(due);
        *latest = (*latest).max(due);
        self.number += 1;
        self.heap.push(Reverse(Departure { due: *latest, number: self.number, device, packet }));
    }

    /// When the next packet is due.
    pub(super) fn next_due(&self) -> Option<Instant> {
        self.heap.peek().map(|Reverse(departure)| departure.due)
    }

    /// The next packet that is due by `now`.
    pub(super) fn pop_due(&mut self, now: Instant) -> Option<Departure> {
        if self.next_due()? > now {
            return None;
        }
        self.heap.pop().map(|Reverse(departure)| departure)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn keeps_the_order_of_a_pair_but_lets_others_pass() {
        let at = |ms| Instant::now() + Duration::from_millis(ms);
        let start = Instant::now();
        let pair = |last: u8| PacketEnds {
            source: [192, 0, 2, 1].into(),
            destination: [192, 0, 2, last].into(),
        };
        let mut queue = Queue::default();
        queue.push(pair(2), at(50), start, 0, vec![1]);
        queue.push(pair(2), at(10), start, 0, vec![2]);
        queue.push(pair(3), at(20), start, 0, vec![3]);
        assert!(queue.pop_due(start).is_none());
        let order: Vec<_> =
            std::iter::from_fn(|| queue.pop_due(at(1_000))).map(|d| d.packet[0]).collect();
        assert_eq!(order, [3, 1, 2]);
    }
}
