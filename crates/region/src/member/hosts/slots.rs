//! Slots of bundles on their way. Their number and size at a time are bounded for three reasons:
//! when an agent dies or goes to sleep, every host may have to move; a receiver takes some hundred
//! messages a second, heartbeats included; and what is sent over a slow line must arrive before it
//! is sent again.

use std::collections::BTreeMap;

use model::AgentId;

/// Bundles of one kind on their way, beyond which a receiver gets only one.
const SLOTS: usize = 200;
/// Bytes of bundles of one kind on their way to a receiver, beyond which it gets no others.
const BYTES: usize = 4 << 20;
/// Expected size of a bundle before any was packed.
const USUAL_BYTES: usize = 40 << 10;

/// The bundles on their way to each receiver.
#[derive(Debug, Clone)]
pub(super) struct Slots {
    used: BTreeMap<AgentId, OnWay>,
    count: usize,
    /// Mean size of the last bundles: one that is not packed yet counts with it.
    expected: usize,
}

/// What is on its way to one receiver.
#[derive(Debug, Clone, Default)]
struct OnWay {
    /// Sizes by number.
    sizes: BTreeMap<u64, usize>,
    bytes: usize,
}

impl Default for Slots {
    fn default() -> Self {
        Self { used: BTreeMap::new(), count: 0, expected: USUAL_BYTES }
    }
}

impl Slots {
    /// Whether one more bundle may go to the receiver. A receiver may have at most as many slots as
    /// are free in total, and always one. So one that takes no bundles uses half of the slots, and
    /// no number of them leaves another receiver without any.
    pub(super) fn has_room(&self, to: AgentId) -> bool {
        let free = SLOTS.saturating_sub(self.count);
        self.used.get(&to).is_none_or(|way| way.sizes.len() < free && way.bytes < BYTES)
    }

    /// Whether the bundle with this number has a slot or gets one.
    pub(super) fn take(&mut self, to: AgentId, number: u64) -> bool {
        if self.used.get(&to).is_some_and(|way| way.sizes.contains_key(&number)) {
            return true;
        }
        let takes = self.has_room(to);
        if takes {
            let way = self.used.entry(to).or_default();
            way.sizes.insert(number, self.expected);
            way.bytes += self.expected;
            self.count += 1;
        }
        takes
    }

    /// The bundle with this number was packed.
    pub(super) fn weigh(&mut self, to: AgentId, number: u64, bytes: usize) {
        let Some(way) = self.used.get_mut(&to) else { return };
        let Some(size) = way.sizes.get_mut(&number) else { return };
        way.bytes = way.bytes - *size + bytes;
        *size = bytes;
        self.expected = (7 * self.expected + bytes) / 8;
    }

    /// The bundle is not on its way any more.
    pub(super) fn free(&mut self, to: AgentId, number: u64) {
        let Some(way) = self.used.get_mut(&to) else { return };
        if let Some(size) = way.sizes.remove(&number) {
            way.bytes -= size;
            self.count -= 1;
        }
        if way.sizes.is_empty() {
            self.used.remove(&to);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: AgentId = AgentId::new(1);
    const TWO: AgentId = AgentId::new(2);

    #[test]
    fn receivers_that_take_nothing_leave_slots_to_the_others() {
        let mut slots = Slots::default();
        let mut fill = |agent| {
            (0..1_000).take_while(|number| slots.take(AgentId::new(agent), *number)).count()
        };
        assert_eq!([fill(1), fill(2), fill(3)], [SLOTS / 2, SLOTS / 4, SLOTS / 8]);
        assert!((4..500).map(&mut fill).all(|slots| slots > 0));
        assert_eq!(fill(500), 1);
    }

    #[test]
    fn a_slot_is_taken_and_freed_once() {
        let mut slots = Slots::default();
        assert!((0..SLOTS as u64 / 2).all(|number| slots.take(ONE, number)));
        assert!(slots.take(ONE, 0), "sent again, it is the same bundle");
        assert!(!slots.take(ONE, 1_000));
        slots.free(TWO, 0);
        assert!(!slots.has_room(ONE), "of another receiver");
        slots.free(ONE, 0);
        slots.free(ONE, 0);
        assert!(slots.take(ONE, 1_000));
        assert!(!slots.take(ONE, 1_001));
    }

    #[test]
    fn large_bundles_leave_one_after_the_other() {
        let mut slots = Slots::default();
        assert!(slots.take(ONE, 0) && slots.take(ONE, 1));
        slots.weigh(ONE, 0, 8 << 20);
        assert!(!slots.has_room(ONE));
        assert!(slots.has_room(TWO), "one receiver holds no others up");
        slots.free(ONE, 0);
        assert!(slots.has_room(ONE));
        slots.weigh(ONE, 7, 8 << 20);
        assert!(slots.has_room(ONE), "it has no slot");
        // What is not packed yet counts as the last ones did.
        slots.free(ONE, 1);
        let more = (2..100).take_while(|number| slots.take(ONE, *number)).count();
        assert!((1..10).contains(&more), "{more}");
        // Small ones make room for more.
        for number in 2..2 + more as u64 {
            slots.weigh(ONE, number, 1_000);
        }
        assert!(slots.has_room(ONE));
    }
}
