//! Queue of bundles that wait for a slot on the way to their receivers.

use std::collections::BTreeMap;

use model::AgentId;

use crate::member::hosts::slots::Slots;

/// What waits for a slot, by receiver and by the number of its bundle, and the slots of what is on
/// its way.
#[derive(Debug, Clone)]
pub(super) struct SlotQueue<T> {
    waiting: BTreeMap<AgentId, BTreeMap<u64, T>>,
    slots: Slots,
}

impl<T> Default for SlotQueue<T> {
    fn default() -> Self {
        Self { waiting: BTreeMap::new(), slots: Slots::default() }
    }
}

impl<T> SlotQueue<T> {
    /// Lets something wait, the lowest number first.
    pub(super) fn add(&mut self, to: AgentId, number: u64, value: T) {
        self.waiting.entry(to).or_default().insert(number, value);
    }

    /// Gives slots to what waits for receivers that have room; returns it with its numbers.
    pub(super) fn begin(&mut self) -> Vec<(u64, T)> {
        let mut begun = Vec::new();
        for (to, waiting) in &mut self.waiting {
            while let Some(entry) = waiting.first_entry()
                && self.slots.take(*to, *entry.key())
            {
                begun.push(entry.remove_entry());
            }
        }
        self.waiting.retain(|_, waiting| !waiting.is_empty());
        begun
    }

    /// Whether something that waits would get a slot.
    pub(super) fn may_begin(&self) -> bool {
        self.waiting.keys().any(|to| self.slots.has_room(*to))
    }

    /// Whether nothing waits for a slot.
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// The bundle with this number was packed.
    pub(super) fn weigh(&mut self, to: AgentId, number: u64, bytes: usize) {
        self.slots.weigh(to, number, bytes);
    }

    /// The bundle with this number neither waits nor is on its way any more.
    pub(super) fn end(&mut self, to: AgentId, number: u64) {
        self.slots.free(to, number);
        let Some(waiting) = self.waiting.get_mut(&to) else { return };
        waiting.remove(&number);
        if waiting.is_empty() {
            self.waiting.remove(&to);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: AgentId = AgentId::new(1);
    const TWO: AgentId = AgentId::new(2);

    #[test]
    fn what_waits_leaves_in_its_order_and_what_ended_does_not() {
        let mut queue = SlotQueue::default();
        for number in (1..=1_000).rev() {
            queue.add(ONE, number, number);
        }
        assert!(queue.may_begin());
        let begun = queue.begin();
        let count = begun.len() as u64;
        assert!((10..500).contains(&count), "{count}");
        assert!(begun.into_iter().eq((1..=count).map(|number| (number, number))));
        assert!(!queue.may_begin());
        queue.end(ONE, count + 1);
        queue.end(ONE, 1);
        assert_eq!(queue.begin(), [(count + 2, count + 2)]);
        queue.add(TWO, 2_000, 0);
        assert_eq!(queue.begin(), [(2_000, 0)], "one receiver holds no others up");
        assert!(!queue.is_empty());
        (1..=1_000).for_each(|number| queue.end(ONE, number));
        assert!(queue.is_empty());
    }
}
