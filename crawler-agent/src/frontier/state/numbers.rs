//! Numbers of the agent's hosts, by hashes of their keys.
//!
//! A hash table has up to twice as many slots as entries, and three times as many while it grows.
//! For a million hosts that would be most of the agent's memory. Here the first bits of a hash
//! choose a short sorted list of packed entries, which has little room to spare and grows alone.
//! The file has the lists as they are in memory, so that a start reads them and no host.
//!
//! The hash has a secret key, so that an attacker cannot choose names with equal hashes. If two
//! hashes are equal, the key in the host's row decides.

use std::{collections::BTreeSet, hash::Hasher as _};

use siphasher::sip::SipHasher13;

use crate::frontier::{FrontierError, HostNumber};

/// Bits of the hash that choose a list: a list of a million hosts has some 250 entries.
const LIST_BITS: u32 = 12;
pub(in crate::frontier) const LISTS: usize = 1 << LIST_BITS;
/// Bytes of the rest of a hash: of 10⁶ hosts, two have equal hashes once in two million agents.
const HASH_BYTES: usize = 6;
/// Bytes of a number: enough for 10⁴ URLs a second over 800 years.
const NUMBER_BYTES: usize = 6;
const ENTRY: usize = HASH_BYTES + NUMBER_BYTES;
/// Part of a full list by which it grows.
const GROWTH: usize = 16;

/// Secret key of the hashes.
pub(in crate::frontier) type HashKey = (u64, u64);

/// A list as the file has it: its number, and its entries.
pub(in crate::frontier) type StoredList = (u16, Vec<u8>);

/// First bytes of an entry, by which a list is sorted.
type ShortHash = [u8; HASH_BYTES];

/// Numbers by hash, each in 12 bytes and a little more.
#[derive(Debug)]
pub(in crate::frontier) struct HostNumbers {
    key: HashKey,
    /// Sorted by hash, each list too.
    lists: Vec<Vec<u8>>,
    count: usize,
    /// Lists that the file does not have in this form.
    changed: BTreeSet<u16>,
}

impl HostNumbers {
    /// No numbers yet, with this key.
    pub(in crate::frontier) fn new(key: HashKey) -> Self {
        Self { key, lists: vec![Vec::new(); LISTS], count: 0, changed: BTreeSet::new() }
    }

    /// Numbers of these lists.
    pub(in crate::frontier) fn load(
        key: HashKey,
        lists: impl IntoIterator<Item = StoredList>,
    ) -> Result<Self, FrontierError> {
        let mut numbers = Self::new(key);
        for (number, entries) in lists {
            let list = numbers.lists.get_mut(usize::from(number)).ok_or(FrontierError::Numbers)?;
            let (parts, rest) = entries.as_chunks::<ENTRY>();
            let rises = parts.is_sorted_by(|one, next| hash_in(one) < hash_in(next));
            if !rises || !rest.is_empty() {
                return Err(FrontierError::Numbers);
            }
            numbers.count += parts.len();
            *list = entries;
        }
        Ok(numbers)
    }

    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// Number of the host with this scheme and authority.
    pub(in crate::frontier) fn get(&self, host: &str) -> Option<HostNumber> {
        let (list, hash) = self.place_of(host);
        let list = &self.lists[usize::from(list)];
        let at = find(list, hash).ok()?;
        let number = list.get(at + HASH_BYTES..at + ENTRY)?;
        let mut bytes = [0; 8];
        bytes[8 - NUMBER_BYTES..].copy_from_slice(number);
        Some(HostNumber(u64::from_be_bytes(bytes)))
    }

    /// Adds a host; one with the same hash is replaced.
    pub(in crate::frontier) fn insert(&mut self, host: &str, number: HostNumber) {
        let (at_list, hash) = self.place_of(host);
        let list = &mut self.lists[usize::from(at_list)];
        let mut entry = [0; ENTRY];
        entry[..HASH_BYTES].copy_from_slice(&hash);
        entry[HASH_BYTES..].copy_from_slice(&number.0.to_be_bytes()[8 - NUMBER_BYTES..]);
        match find(list, hash) {
            Ok(at) => list[at..at + ENTRY].copy_from_slice(&entry),
            Err(at) => {
                if list.len() + ENTRY > list.capacity() {
                    list.reserve_exact(ENTRY * (list.len() / ENTRY / GROWTH + 1));
                }
                list.splice(at..at, entry);
                self.count += 1;
            }
        }
        self.changed.insert(at_list);
    }

    pub(super) fn remove(&mut self, host: &str) {
        let (at_list, hash) = self.place_of(host);
        let list = &mut self.lists[usize::from(at_list)];
        if let Ok(at) = find(list, hash) {
            list.drain(at..at + ENTRY);
            self.count -= 1;
            self.changed.insert(at_list);
        }
    }

    /// Takes the lists that a checkpoint has to write.
    pub(in crate::frontier) fn changes(&mut self) -> Vec<StoredList> {
        let changed = std::mem::take(&mut self.changed).into_iter();
        changed.map(|number| (number, self.lists[usize::from(number)].clone())).collect()
    }

    /// The list of a host, and its hash there.
    fn place_of(&self, host: &str) -> (u16, ShortHash) {
        let mut hasher = SipHasher13::new_with_keys(self.key.0, self.key.1);
        hasher.write(host.as_bytes());
        let hash = hasher.finish();
        let list = (hash >> (u64::BITS - LIST_BITS)) as u16;
        let rest = (hash << LIST_BITS).to_be_bytes();
        let mut short = ShortHash::default();
        short.copy_from_slice(&rest[..HASH_BYTES]);
        (list, short)
    }
}

/// Whether a host, a URL or a result can have this number.
pub(in crate::frontier) fn is_possible(number: u64) -> bool {
    number < 1 << (8 * NUMBER_BYTES)
}

/// Where the entry with this hash begins; an error where it would be.
fn find(list: &[u8], hash: ShortHash) -> Result<usize, usize> {
    let (entries, _) = list.as_chunks::<ENTRY>();
    let found = entries.binary_search_by(|entry| hash_in(entry).cmp(&hash));
    found.map(|at| at * ENTRY).map_err(|at| at * ENTRY)
}

fn hash_in(entry: &[u8; ENTRY]) -> ShortHash {
    let mut hash = ShortHash::default();
    hash.copy_from_slice(&entry[..HASH_BYTES]);
    hash
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    const KEY: HashKey = (3, 4);

    proptest! {
        #[test]
        fn numbers_are_those_of_a_map(
            steps in prop::collection::vec((any::<bool>(), 0_u64..64, 0_u64..1 << 47), 0..300),
        ) {
            let mut numbers = HostNumbers::new(KEY);
            let mut map = HashMap::new();
            let mut file = HashMap::new();
            for (adds, host, number) in steps {
                let host = format!("http://h{host}.org");
                if adds {
                    numbers.insert(&host, HostNumber(number));
                    map.insert(host.clone(), HostNumber(number));
                } else {
                    numbers.remove(&host);
                    map.remove(&host);
                }
                prop_assert_eq!(numbers.get(&host), map.get(&host).copied());
                prop_assert_eq!(numbers.len(), map.len());
                file.extend(numbers.changes());
            }
            let loaded = HostNumbers::load(KEY, file).unwrap();
            prop_assert_eq!(loaded.len(), map.len());
            prop_assert!(map.iter().all(|(host, number)| loaded.get(host) == Some(*number)));
        }
    }

    #[test]
    fn hosts_of_one_list_do_not_mix() {
        let mut numbers = HostNumbers::new(KEY);
        let hosts = 40_000_u64;
        for number in 0..hosts {
            numbers.insert(&format!("http://h{number}.org"), HostNumber(number));
        }
        assert!(
            (0..hosts).all(|n| numbers.get(&format!("http://h{n}.org")) == Some(HostNumber(n)))
        );
        let room: usize = numbers.lists.iter().map(Vec::capacity).sum();
        assert_eq!(numbers.len() as u64, hosts);
        assert!((room as u64) < hosts * 16, "room of {room} bytes for {hosts} hosts");
    }

    #[test]
    fn damaged_lists_are_refused() {
        let mut numbers = HostNumbers::new(KEY);
        for number in 0..40_000 {
            numbers.insert(&format!("http://h{number}.org"), HostNumber(number));
        }
        let lists = numbers.changes();
        let refused = |damage: &dyn Fn(&mut StoredList)| {
            let mut lists = lists.clone();
            damage(&mut lists[7]);
            HostNumbers::load(KEY, lists).is_err()
        };
        assert!(refused(&|list| list.0 = u16::MAX));
        assert!(refused(&|list| list.1.truncate(ENTRY + 1)));
        assert!(refused(&|list| list.1.rotate_left(ENTRY)));
        assert!(!refused(&|_| {}));
    }
}
