//! Which hosts are in memory, and which the agent has at all.
//!
//! Of a host that is not in memory, 16 bytes are kept: a hash of its key, and its number. The hash
//! has a random key at each start, so that nobody can choose names with equal hashes. If two hashes
//! are equal, the key in the host's row decides.

use std::{
    collections::{BTreeSet, HashMap, hash_map::Entry},
    hash::{BuildHasher as _, RandomState},
};

use model::CrawlUrl;

use super::{
    host::{Host, HostChanges},
    numbers::HostNumbers,
};
use crate::frontier::{FrontierError, HostNumber, HostRecord, disk::Disk};

/// Memory that hosts may take before some are dropped, in bytes.
const MEMORY: usize = 24 << 20;

/// The hosts of the agent.
pub(in crate::frontier) struct Hosts {
    /// Hash of the key to the number.
    numbers: HostNumbers,
    hasher: RandomState,
    /// Boxed, because the table has up to twice as many slots as hosts.
    in_memory: HashMap<HostNumber, Box<Host>>,
    /// Hosts whose rows the next checkpoint deletes.
    released: BTreeSet<HostNumber>,
    /// Hosts whose rows the running checkpoint deletes.
    being_deleted: BTreeSet<HostNumber>,
    uses: u64,
}

impl Hosts {
    /// The hosts of the last checkpoint; none is in memory.
    pub(super) fn load(disk: &Disk) -> Result<Self, FrontierError> {
        let mut hosts = Self {
            numbers: HostNumbers::default(),
            hasher: RandomState::new(),
            in_memory: HashMap::new(),
            released: BTreeSet::new(),
            being_deleted: BTreeSet::new(),
            uses: 0,
        };
        disk.for_each_host(|number, row| {
            hosts.numbers.insert(hosts.hasher.hash_one(row.record.key.as_str()), number);
        })?;
        Ok(hosts)
    }

    pub(super) fn len(&self) -> usize {
        self.numbers.len()
    }

    pub(super) fn is_in_memory(&self, number: HostNumber) -> bool {
        self.in_memory.contains_key(&number)
    }

    /// Number of the host with this key.
    pub(super) fn number(&self, key: &str) -> Option<HostNumber> {
        self.numbers.get(self.hasher.hash_one(key))
    }

    /// Whether the URL's host is the agent's.
    pub(super) fn has_host_of(&self, url: &CrawlUrl) -> bool {
        self.number(url.host_key_str()).is_some()
    }

    /// Adds a host with this number.
    pub(super) fn add(&mut self, number: HostNumber, record: HostRecord) {
        self.numbers.insert(self.hasher.hash_one(record.key.as_str()), number);
        self.in_memory.insert(number, Box::new(Host::new(number, record)));
    }

    /// A host, read from disk if it is not in memory; none when it is not the agent's.
    pub(super) fn get(
        &mut self,
        disk: &Disk,
        number: HostNumber,
    ) -> Result<Option<&mut Host>, FrontierError> {
        self.uses += 1;
        let host = match self.in_memory.entry(number) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(_)
                if self.released.contains(&number) || self.being_deleted.contains(&number) =>
            {
                return Ok(None);
            }
            Entry::Vacant(entry) => {
                let Some((row, robots)) = disk.host(number)? else { return Ok(None) };
                entry.insert(Box::new(Host::on_disk(number, row, robots)))
            }
        };
        host.last_use = self.uses;
        Ok(Some(host))
    }

    /// A host that is about to be changed; else as [`Self::get`].
    pub(super) fn get_mut(
        &mut self,
        disk: &Disk,
        number: HostNumber,
    ) -> Result<Option<&mut Host>, FrontierError> {
        let Some(host) = self.get(disk, number)? else { return Ok(None) };
        host.is_changed = true;
        Ok(Some(host))
    }

    /// Removes a host that was released.
    pub(super) fn remove(&mut self, number: HostNumber) {
        if let Some(host) = self.in_memory.remove(&number) {
            self.numbers.remove(self.hasher.hash_one(host.record.key.as_str()));
        }
        self.released.insert(number);
    }

    /// Hosts in memory.
    pub(in crate::frontier) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Host> {
        self.in_memory.values_mut().map(Box::as_mut)
    }

    /// Takes the released hosts, for a checkpoint.
    pub(super) fn released(&mut self) -> Vec<HostNumber> {
        self.being_deleted = std::mem::take(&mut self.released);
        self.being_deleted.iter().copied().collect()
    }

    /// Takes what a checkpoint has to write of the hosts.
    pub(super) fn changes(&mut self, disk: &Disk) -> Result<Vec<HostChanges>, FrontierError> {
        let changed = self.in_memory.values_mut().filter(|host| host.is_changed);
        changed.map(|host| host.changes(disk)).collect()
    }

    /// The last checkpoint is complete.
    pub(super) fn committed(&mut self) {
        self.being_deleted.clear();
        self.iter_mut().filter(|host| host.is_being_written).for_each(Host::committed);
        self.shrink(MEMORY);
    }

    /// Bytes in memory, about.
    pub(in crate::frontier) fn bytes(&self) -> usize {
        self.in_memory.values().map(|host| host.bytes()).sum()
    }

    /// Drops what is on disk from memory, until the rest takes half of `most` bytes: fingerprints
    /// first, because they are large and read in one piece, then whole hosts. Those that were not
    /// used for longest come first.
    pub(in crate::frontier) fn shrink(&mut self, most: usize) {
        let mut bytes = self.bytes();
        if bytes <= most {
            return;
        }
        let mut by_use: Vec<(u64, HostNumber)> =
            self.in_memory.values().map(|host| (host.last_use, host.number)).collect();
        by_use.sort_unstable();
        for (_, number) in &by_use {
            if bytes <= most / 2 {
                return;
            }
            let Entry::Occupied(mut entry) = self.in_memory.entry(*number) else { continue };
            let before = entry.get().bytes();
            entry.get_mut().drop_seen();
            let after = if entry.get().is_on_disk_only() {
                entry.remove();
                0
            } else {
                entry.get().bytes()
            };
            bytes -= before - after;
        }
    }

    /// Whether so much is in memory that a checkpoint should let it be dropped.
    pub(in crate::frontier) fn is_over_budget(&self) -> bool {
        self.bytes() > MEMORY
    }
}
