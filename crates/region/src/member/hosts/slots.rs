//! Slots of bundles on their way. A bounded number travels at a time, since a death or a night may
//! concern every host, and receivers take some hundred messages a second, heartbeats included.

use std::collections::{BTreeMap, BTreeSet};

use model::AgentId;

/// Bundles of one kind on their way, beyond which a receiver gets only one.
const SLOTS: usize = 200;

/// Numbers of the bundles on their way to each receiver.
#[derive(Debug, Clone, Default)]
pub(super) struct Slots {
    used: BTreeMap<AgentId, BTreeSet<u64>>,
    count: usize,
}

impl Slots {
    /// Whether one more bundle may go to the receiver: it may have as many slots as are free
    /// besides, and one in any case. So one that takes no bundles leaves half of the slots to the
    /// others, and no number of them leaves another without any.
    pub(super) fn has_room(&self, to: AgentId) -> bool {
        let free = SLOTS.saturating_sub(self.count);
        self.used.get(&to).is_none_or(|numbers| numbers.len() < free)
    }

    /// Whether the bundle with this number has a slot or gets one.
    pub(super) fn take(&mut self, to: AgentId, number: u64) -> bool {
        if self.used.get(&to).is_some_and(|numbers| numbers.contains(&number)) {
            return true;
        }
        let takes = self.has_room(to);
        if takes {
            self.used.entry(to).or_default().insert(number);
            self.count += 1;
        }
        takes
    }

    /// The bundle is not on its way any more.
    pub(super) fn free(&mut self, to: AgentId, number: u64) {
        let Some(numbers) = self.used.get_mut(&to) else { return };
        self.count -= usize::from(numbers.remove(&number));
        if numbers.is_empty() {
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
}
