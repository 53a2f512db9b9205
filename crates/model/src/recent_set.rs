//! A bounded set of values that were inserted recently.

use std::collections::HashSet;
use std::hash::Hash;
use std::mem;

/// A set of two halves: when the younger one is full, it takes the place of the older one, whose
/// values are forgotten.
#[derive(Debug, Clone)]
pub struct RecentSet<T> {
    young: HashSet<T>,
    old: HashSet<T>,
    capacity: usize,
}

impl<T: Eq + Hash> RecentSet<T> {
    /// A set of at most `capacity` values, which remembers at least half as many.
    pub fn new(capacity: usize) -> Self {
        Self { young: HashSet::new(), old: HashSet::new(), capacity }
    }

    /// Whether the value was inserted recently.
    pub fn contains(&self, value: &T) -> bool {
        self.young.contains(value) || self.old.contains(value)
    }

    /// Adds a value; returns whether it was not there.
    pub fn insert(&mut self, value: T) -> bool {
        if self.old.contains(&value) || !self.young.insert(value) {
            return false;
        }
        if self.young.len() >= self.capacity / 2 {
            self.old = mem::take(&mut self.young);
        }
        true
    }

    /// Forgets all values.
    pub fn clear(&mut self) {
        *self = Self::new(self.capacity);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_new_once_until_many_others_were_inserted() {
        let mut set = RecentSet::new(100);
        assert!(set.insert(0));
        assert!(!set.insert(0));
        assert!((1..50).all(|value| set.insert(value)));
        assert!(!set.insert(0), "in the older half");
        assert!((50..100).all(|value| set.insert(value)));
        assert!(!set.contains(&0) && set.insert(0), "forgotten");
        assert!(set.young.len() + set.old.len() <= 100);
        set.clear();
        assert!((0..100).all(|value| !set.contains(&value)));
    }
}
