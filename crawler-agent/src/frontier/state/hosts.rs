//! Which hosts are in memory, and which the agent has at all.
//!
//! Of a host that is not in memory, 12 bytes are kept: a hash of its key, and its number; see
//! [`super::numbers`].

use std::collections::{BTreeSet, HashMap, hash_map::Entry};

use model::{CrawlUrl, UnixMillis};

use super::{
    host::{Host, HostChanges},
    inbox::{Inbox, InboxUrl},
    numbers::{HostNumbers, StoredList},
};
use crate::frontier::{
    FrontierError, HostNumber, HostRecord,
    disk::{Disk, work::WorkEntry},
};

/// Memory that hosts may take before some are dropped, in bytes.
const MEMORY: usize = 16 << 20;
/// Memory that links to other hosts may take before a checkpoint writes them, in bytes.
const INBOX_MEMORY: usize = 2 << 20;

/// The hosts of the agent.
pub(in crate::frontier) struct Hosts {
    numbers: HostNumbers,
    /// Boxed, because the table has up to twice as many slots as hosts.
    in_memory: HashMap<HostNumber, Box<Host>>,
    /// Hosts whose rows the next checkpoint deletes.
    released: BTreeSet<HostNumber>,
    /// Hosts whose rows the running checkpoint deletes.
    being_deleted: BTreeSet<HostNumber>,
    uses: u64,
    /// URLs in queues.
    pub(super) queued: u64,
    inbox: Inbox,
    /// Whether there are links on disk to hosts that are not in memory.
    has_stored_links: bool,
    /// Hosts that got work when the links to them were decided.
    got_work: Vec<HostNumber>,
}

impl Hosts {
    /// The hosts of the last checkpoint; none is in memory.
    pub(super) fn load(disk: &Disk, queued: u64) -> Result<Self, FrontierError> {
        Ok(Self {
            numbers: disk.host_numbers()?,
            in_memory: HashMap::new(),
            released: BTreeSet::new(),
            being_deleted: BTreeSet::new(),
            uses: 0,
            queued,
            inbox: Inbox::default(),
            has_stored_links: disk.inbox_len()? > 0,
            got_work: Vec::new(),
        })
    }

    pub(super) fn len(&self) -> usize {
        self.numbers.len()
    }

    pub(in crate::frontier) fn is_in_memory(&self, number: HostNumber) -> bool {
        self.in_memory.contains_key(&number)
    }

    /// Number of the host with this key.
    pub(in crate::frontier) fn number(&self, key: &str) -> Option<HostNumber> {
        self.numbers.get(key)
    }

    /// Whether the URL's host is the agent's.
    pub(super) fn has_host_of(&self, url: &CrawlUrl) -> bool {
        self.number(url.host_key_str()).is_some()
    }

    /// Leaves a link to a host that is not in memory to be decided later.
    pub(super) fn defer(&mut self, host: HostNumber, order: u64, url: InboxUrl) {
        self.inbox.push(host, order, url);
    }

    /// The first hosts that have links on disk and are not in memory, by the times of their first
    /// links.
    pub(in crate::frontier) fn with_stored_links(
        &self,
        disk: &Disk,
        most: usize,
    ) -> Result<Vec<(UnixMillis, HostNumber)>, FrontierError> {
        let mut found = Vec::new();
        if self.has_stored_links {
            disk.inbox_hosts(|host, at| {
                if !self.is_in_memory(host) {
                    found.push((at, host));
                }
                found.len() < most
            })?;
        }
        Ok(found)
    }

    /// Takes the hosts that got work when the links to them were decided. The schedule may have
    /// them for their next revisit.
    pub(in crate::frontier) fn take_got_work(&mut self) -> Vec<HostNumber> {
        std::mem::take(&mut self.got_work)
    }

    /// When the first link came that is not on disk.
    pub(in crate::frontier) fn first_link_in_memory(&self) -> Option<UnixMillis> {
        self.inbox.first()
    }

    /// Takes the links that a checkpoint has to write.
    pub(super) fn inbox_changes(&mut self) -> Vec<(HostNumber, u64, InboxUrl)> {
        let changes = self.inbox.changes();
        self.has_stored_links |= !changes.is_empty();
        changes
    }

    pub(super) fn add(&mut self, number: HostNumber, record: HostRecord) {
        self.numbers.insert(&record.key, number);
        self.in_memory.insert(number, Box::new(Host::new(number, record)));
    }

    /// A host, read from disk if it is not in memory; none when it is not the agent's.
    pub(in crate::frontier) fn get(
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
                let mut host = Box::new(Host::on_disk(number, row, robots));
                // Before anything else is done with it.
                let mut links = self.inbox.take(number);
                if self.has_stored_links {
                    links.add_stored(disk.inbox(number)?);
                }
                let had_work = host.has_queued();
                self.queued += u64::from(host.decide(disk, links)?);
                if !had_work && host.has_queued() {
                    self.got_work.push(number);
                }
                entry.insert(host)
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
            self.numbers.remove(&host.record.key);
        }
        self.released.insert(number);
    }

    /// Whether the file has a host as it is.
    pub(in crate::frontier) fn is_as_on_disk(&self, number: HostNumber) -> bool {
        let is_changed = self.in_memory.get(&number).is_some_and(|host| !host.is_on_disk_only());
        !is_changed && !self.released.contains(&number) && !self.being_deleted.contains(&number)
    }

    /// What the hosts have to do that the file does not have as they are.
    pub(in crate::frontier) fn changed_work(
        &mut self,
        disk: &Disk,
    ) -> Result<Vec<WorkEntry>, FrontierError> {
        let mut entries = Vec::new();
        for host in self.iter_mut().filter(|host| !host.is_on_disk_only()) {
            entries.extend(host.work(disk)?);
        }
        Ok(entries)
    }

    /// Takes the lists of numbers that a checkpoint has to write.
    pub(super) fn number_changes(&mut self) -> Vec<StoredList> {
        self.numbers.changes()
    }

    /// Hosts in memory.
    fn iter_mut(&mut self) -> impl Iterator<Item = &mut Host> {
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
        self.inbox.committed();
        self.iter_mut().filter(|host| host.is_being_written).for_each(Host::committed);
        self.shrink_to_budget();
    }

    /// Bytes in memory, about.
    pub(in crate::frontier) fn bytes(&self) -> usize {
        self.in_memory.values().map(|host| host.bytes()).sum()
    }

    /// Drops what is on disk from memory where all takes too much.
    pub(in crate::frontier) fn shrink_to_budget(&mut self) {
        self.shrink(MEMORY);
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
        self.bytes() > MEMORY || self.inbox.bytes() > INBOX_MEMORY
    }
}
