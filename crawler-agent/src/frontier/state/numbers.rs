//! Numbers of the agent's hosts, by hashes of their keys.
//!
//! A hash table has up to twice as many slots as entries, and three times as many while it grows.
//! For a million hosts that would be most of the agent's memory. Here the first bits of a hash
//! choose a short sorted list, which has little room to spare and grows alone.

use crate::frontier::HostNumber;

/// Bits of the hash that choose a list: a list of a million hosts has some 250 entries.
const LIST_BITS: u32 = 12;
/// Part of a full list by which it grows.
const GROWTH: usize = 8;

/// Numbers by hash, each in 16 bytes and a little more.
#[derive(Debug)]
pub(super) struct HostNumbers {
    /// Sorted by hash, each list too.
    lists: Vec<Vec<(u64, HostNumber)>>,
    count: usize,
}

impl Default for HostNumbers {
    fn default() -> Self {
        Self { lists: vec![Vec::new(); 1 << LIST_BITS], count: 0 }
    }
}

impl HostNumbers {
    pub(super) fn len(&self) -> usize {
        self.count
    }

    pub(super) fn get(&self, hash: u64) -> Option<HostNumber> {
        let list = &self.lists[list_of(hash)];
        let found = list.binary_search_by_key(&hash, |(hash, _)| *hash).ok()?;
        Some(list[found].1)
    }

    /// Adds a number; one with the same hash is replaced.
    pub(super) fn insert(&mut self, hash: u64, number: HostNumber) {
        let list = &mut self.lists[list_of(hash)];
        match list.binary_search_by_key(&hash, |(hash, _)| *hash) {
            Ok(found) => list[found].1 = number,
            Err(place) => {
                if list.len() == list.capacity() {
                    list.reserve_exact(list.len() / GROWTH + 1);
                }
                list.insert(place, (hash, number));
                self.count += 1;
            }
        }
    }

    pub(super) fn remove(&mut self, hash: u64) {
        let list = &mut self.lists[list_of(hash)];
        if let Ok(found) = list.binary_search_by_key(&hash, |(hash, _)| *hash) {
            list.remove(found);
            self.count -= 1;
        }
    }
}

fn list_of(hash: u64) -> usize {
    (hash >> (u64::BITS - LIST_BITS)) as usize
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Few lists and few hashes, so that entries are replaced and removed.
        #[test]
        fn numbers_are_those_of_a_map(
            steps in prop::collection::vec((any::<bool>(), 0_u64..64, 0_u64..1_000), 0..300),
        ) {
            let mut numbers = HostNumbers::default();
            let mut map = HashMap::new();
            for (adds, hash, number) in steps {
                let hash = hash << (u64::BITS - LIST_BITS - 2);
                if adds {
                    numbers.insert(hash, HostNumber(number));
                    map.insert(hash, HostNumber(number));
                } else {
                    numbers.remove(hash);
                    map.remove(&hash);
                }
                prop_assert_eq!(numbers.get(hash), map.get(&hash).copied());
                prop_assert_eq!(numbers.len(), map.len());
            }
        }
    }

    #[test]
    fn lists_have_little_room_to_spare() {
        let mut numbers = HostNumbers::default();
        let hosts = 200_000_u64;
        for number in 0..hosts {
            numbers.insert(number.wrapping_mul(0x9e37_79b9_7f4a_7c15), HostNumber(number));
        }
        let room: usize = numbers.lists.iter().map(Vec::capacity).sum();
        assert_eq!(numbers.len() as u64, hosts);
        assert!((room as u64) < hosts * 5 / 4, "room for {room} of {hosts} hosts");
    }
}
