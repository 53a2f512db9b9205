//! Window: ordered entries of a host, the first of which are in memory and the others on disk.
//!
//! New entries are in memory only, until a checkpoint writes them. Entries that are on disk are
//! dropped from memory where many others come before them, and read again when they are next. A
//! reader is passed to each method that may need entries from disk; it sees what the last complete
//! checkpoint has written.

use std::collections::{BTreeMap, BTreeSet};

use crate::frontier::FrontierError;

/// Entries that one read takes from disk, and that a host keeps in memory.
pub(in crate::frontier) const BATCH: usize = 64;

/// Entries for which a node of a map has room; half of them are there where entries came in their
/// order.
const NODE_ENTRIES: usize = 11;

/// Order of entries.
pub(in crate::frontier) trait Key: Ord + Copy {
    /// The key before all others.
    const FIRST: Self;

    /// The next greater key.
    fn next(self) -> Self;
}

/// (Depth, order of arrival): breadth first.
pub(in crate::frontier) type QueueKey = (u16, u64);
/// (Revisit base, order of arrival).
pub(in crate::frontier) type PageKey = (i64, u64);

impl Key for QueueKey {
    const FIRST: Self = (0, 0);

    fn next(self) -> Self {
        (self.0, self.1 + 1)
    }
}

impl Key for PageKey {
    const FIRST: Self = (i64::MIN, 0);

    fn next(self) -> Self {
        (self.0, self.1 + 1)
    }
}

/// Reads at most this many entries from a key on.
pub(in crate::frontier) trait Reader<K, V>:
    Fn(K, usize) -> Result<Vec<(K, V)>, FrontierError>
{
}

impl<K, V, F: Fn(K, usize) -> Result<Vec<(K, V)>, FrontierError>> Reader<K, V> for F {}

/// Content of an entry.
pub(in crate::frontier) trait Value {
    /// Bytes in memory that it points to, about.
    fn bytes(&self) -> usize;
}

#[derive(Debug)]
struct Entry<V> {
    value: V,
    on_disk: OnDisk,
}

/// What the checkpoint that is being written, or the last one, has of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OnDisk {
    Nothing,
    /// A former value.
    Former,
    /// The value in memory.
    Current,
}

/// Ordered entries of a host.
#[derive(Debug)]
pub(in crate::frontier) struct Window<K, V> {
    entries: BTreeMap<K, Entry<V>>,
    /// Bytes that the values in memory point to.
    value_bytes: usize,
    /// Key from which on there are entries that are only on disk; none where all are in memory.
    unread: Option<K>,
    /// Number of the entries that are only on disk.
    unread_count: usize,
    /// Entries to delete from disk with the next checkpoint.
    removed: BTreeSet<K>,
    /// Entries that the running checkpoint deletes.
    removing: BTreeSet<K>,
}

/// Changes of a window for a checkpoint.
#[derive(Debug)]
pub(in crate::frontier) struct WindowChanges<K> {
    /// Keys of entries to delete.
    pub(in crate::frontier) deleted: Vec<K>,
    /// Entries to write, with their encoded values.
    pub(in crate::frontier) written: Vec<(K, Vec<u8>)>,
}

impl<K: Key, V: Value> Window<K, V> {
    /// A window of which `count` entries are on disk and none is in memory.
    pub(in crate::frontier) fn on_disk(count: usize) -> Self {
        Self {
            entries: BTreeMap::new(),
            value_bytes: 0,
            unread: (count > 0).then_some(K::FIRST),
            unread_count: count,
            removed: BTreeSet::new(),
            removing: BTreeSet::new(),
        }
    }

    /// Number of entries.
    pub(in crate::frontier) fn len(&self) -> usize {
        self.entries.len() + self.unread_count
    }

    /// Bytes of the entries in memory, about.
    pub(in crate::frontier) fn bytes(&self) -> usize {
        let node = NODE_ENTRIES * (size_of::<K>() + size_of::<Entry<V>>()) + 16;
        self.entries.len().div_ceil(NODE_ENTRIES / 2) * node + self.value_bytes
    }

    /// Adds an entry, or replaces the one with this key, which must be in memory.
    pub(in crate::frontier) fn insert(&mut self, key: K, value: V) {
        let is_replaced =
            self.entries.get(&key).is_some_and(|entry| entry.on_disk != OnDisk::Nothing);
        // The next checkpoint overwrites the former value instead of deleting it.
        let on_disk =
            if self.removed.remove(&key) || is_replaced { OnDisk::Former } else { OnDisk::Nothing };
        self.put(key, Entry { value, on_disk });
    }

    fn put(&mut self, key: K, entry: Entry<V>) {
        self.value_bytes += entry.value.bytes();
        if let Some(former) = self.entries.insert(key, entry) {
            self.value_bytes -= former.value.bytes();
        }
    }

    fn take(&mut self, key: &K) -> Option<Entry<V>> {
        let entry = self.entries.remove(key)?;
        self.value_bytes -= entry.value.bytes();
        Some(entry)
    }

    /// The first entry.
    pub(in crate::frontier) fn first(
        &mut self,
        read: impl Reader<K, V>,
    ) -> Result<Option<(K, &V)>, FrontierError> {
        while let Some(from) = self.unread {
            if self.entries.first_key_value().is_some_and(|(key, _)| *key < from) {
                break;
            }
            self.read_on(from, &read)?;
        }
        Ok(self.entries.first_key_value().map(|(key, entry)| (*key, &entry.value)))
    }

    /// Removes the first entry.
    pub(in crate::frontier) fn pop_first(
        &mut self,
        read: impl Reader<K, V> + Copy,
    ) -> Result<Option<(K, V)>, FrontierError> {
        let Some((key, _)) = self.first(read)? else { return Ok(None) };
        Ok(self.remove(key, read)?.map(|value| (key, value)))
    }

    /// Removes up to `most` first entries.
    pub(in crate::frontier) fn pop_firsts(
        &mut self,
        most: usize,
        read: impl Reader<K, V> + Copy,
    ) -> Result<Vec<(K, V)>, FrontierError> {
        std::iter::from_fn(|| self.pop_first(read).transpose()).take(most).collect()
    }

    /// The key of the first entry for which this holds. Reads all entries.
    pub(in crate::frontier) fn find(
        &mut self,
        read: impl Reader<K, V>,
        is_wanted: impl Fn(&V) -> bool,
    ) -> Result<Option<K>, FrontierError> {
        let found = self.all(read)?.find(|(_, value)| is_wanted(value));
        Ok(found.map(|(key, _)| key))
    }

    /// Removes the entry with this key.
    pub(in crate::frontier) fn remove(
        &mut self,
        key: K,
        read: impl Reader<K, V>,
    ) -> Result<Option<V>, FrontierError> {
        // Entries are removed while they are first, so that hardly any others are read for it.
        while let Some(from) = self.unread.filter(|from| *from <= key) {
            if self.entries.contains_key(&key) {
                break;
            }
            self.read_on(from, &read)?;
        }
        let Some(entry) = self.take(&key) else { return Ok(None) };
        if entry.on_disk != OnDisk::Nothing {
            self.removed.insert(key);
        }
        Ok(Some(entry.value))
    }

    /// All entries in their order.
    pub(in crate::frontier) fn all(
        &mut self,
        read: impl Reader<K, V>,
    ) -> Result<impl Iterator<Item = (K, &V)>, FrontierError> {
        while let Some(from) = self.unread {
            self.read_on(from, &read)?;
        }
        Ok(self.entries.iter().map(|(key, entry)| (*key, &entry.value)))
    }

    /// Changes every entry, but not the number of bytes that it points to.
    pub(in crate::frontier) fn update_all(
        &mut self,
        read: impl Reader<K, V>,
        update: impl Fn(&mut V),
    ) -> Result<(), FrontierError> {
        while let Some(from) = self.unread {
            self.read_on(from, &read)?;
        }
        for entry in self.entries.values_mut() {
            update(&mut entry.value);
            if entry.on_disk == OnDisk::Current {
                entry.on_disk = OnDisk::Former;
            }
        }
        Ok(())
    }

    /// Reads the next entries from disk.
    fn read_on(&mut self, from: K, read: &impl Reader<K, V>) -> Result<(), FrontierError> {
        let rows = read(from, BATCH)?;
        let is_end = rows.len() < BATCH;
        self.unread = rows.last().map(|(key, _)| key.next()).filter(|_| !is_end);
        for (key, value) in rows {
            // The reader does not see removals and new values since the last checkpoint.
            let is_gone = self.removed.contains(&key) || self.removing.contains(&key);
            if !is_gone && !self.entries.contains_key(&key) {
                self.put(key, Entry { value, on_disk: OnDisk::Current });
                self.unread_count = self.unread_count.saturating_sub(1);
            }
        }
        if self.unread.is_none() {
            self.unread_count = 0;
        }
        Ok(())
    }

    /// Takes what a checkpoint has to write. From here on it counts as written, but no entry is
    /// dropped from memory before [`Self::committed`].
    pub(in crate::frontier) fn changes(
        &mut self,
        encode: impl Fn(&V) -> Result<Vec<u8>, FrontierError>,
    ) -> Result<WindowChanges<K>, FrontierError> {
        let mut written = Vec::new();
        let changed = self.entries.iter_mut();
        for (key, entry) in changed.filter(|(_, entry)| entry.on_disk != OnDisk::Current) {
            written.push((*key, encode(&entry.value)?));
            entry.on_disk = OnDisk::Current;
        }
        self.removing = std::mem::take(&mut self.removed);
        Ok(WindowChanges { deleted: self.removing.iter().copied().collect(), written })
    }

    /// The checkpoint with the last changes is complete. Drops all but the first entries.
    pub(in crate::frontier) fn committed(&mut self) {
        self.removing.clear();
        let later = self.entries.iter().skip(BATCH);
        let later = later.filter(|(_, entry)| entry.on_disk == OnDisk::Current);
        let on_disk: Vec<K> = later.map(|(key, _)| *key).collect();
        let Some(first) = on_disk.first() else { return };
        self.unread = Some(self.unread.map_or(*first, |unread| unread.min(*first)));
        self.unread_count += on_disk.len();
        for key in &on_disk {
            self.take(key);
        }
    }
}
