//! Due hosts: which hosts have work, by the times from which on they may be visited.

use std::time::Duration;

use model::UnixMillis;

use super::{
    Frontier, FrontierError, HostNumber,
    disk::{Disk, work::WorkEntry},
    state::Hosts,
};
use crate::clock;

/// Time for which links wait for their host to be read for another reason.
pub const INBOX_PATIENCE: Duration = Duration::from_mins(1);

/// Most hosts that one search reads to decide the links to them.
const MAX_DECIDED: usize = 32;

/// A time that has passed.
const PAST: UnixMillis = UnixMillis(0);
/// The last time that can be stored.
const END: UnixMillis = UnixMillis(i64::MAX);

/// Pause between two searches while links wait for a checkpoint, in milliseconds.
const SEARCH_PAUSE_MS: i64 = 1_000;

/// A host with URLs or pages that are to be fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostWithWork {
    pub host: HostNumber,
    /// Earliest time of the next request.
    pub due: UnixMillis,
    /// Time from which on it has work: that of the next request, or that of the next revisit.
    pub work: UnixMillis,
    /// Crawl-delay in milliseconds; 0 where the host wants none.
    pub crawl_delay_ms: u32,
}

/// Which hosts are asked for.
#[derive(Debug, Clone, Copy)]
pub struct DueQuery {
    /// Latest time at which their work begins.
    pub until: UnixMillis,
    /// Most hosts that are found.
    pub most: usize,
    /// How long after their revisit bases pages are visited again; none when they are not.
    pub revisit_period_ms: Option<i64>,
}

/// The hosts whose work begins first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DueHosts {
    /// Hosts by the time at which they may be visited and have work.
    pub hosts: Vec<HostWithWork>,
    /// When the next host has work, or a time before that; none where no other has any.
    pub next: Option<UnixMillis>,
}

impl HostWithWork {
    /// When it may be visited and has work.
    fn at(&self) -> UnixMillis {
        self.work.max(self.due)
    }
}

impl DueQuery {
    /// The latest time that can be right; the clock was wrong when a later one was stored.
    fn latest(&self) -> UnixMillis {
        self.until.plus_ms(clock::LONGEST_AHEAD_MS)
    }

    /// A host whose stored time is wrong has work at once.
    fn host_of(&self, entry: &WorkEntry) -> Option<HostWithWork> {
        let WorkEntry { host, due, crawl_delay_ms, revisit_base } = *entry;
        let due = if due > self.latest() { PAST } else { due };
        let work = match revisit_base {
            Some(base) if base > self.latest() => self.revisit_period_ms.map(|_| PAST)?,
            Some(base) => base.plus_ms(self.revisit_period_ms?),
            None => due,
        };
        Some(HostWithWork { host, due, work, crawl_delay_ms })
    }
}

/// Hosts that are found, sorted at the end.
struct Collector {
    query: DueQuery,
    hosts: Vec<HostWithWork>,
    next: Option<UnixMillis>,
}

impl Collector {
    /// Takes a host, or notes when it has work.
    fn add(&mut self, host: HostWithWork) {
        if host.at() <= self.query.until {
            self.hosts.push(host);
        } else {
            self.note(host.at());
        }
    }

    /// Takes a host of a sequence by the time of their work; returns whether the next one may be
    /// wanted as well.
    fn add_in_order(&mut self, host: HostWithWork, taken: &mut usize) -> bool {
        if host.work > self.query.until {
            self.note(host.work);
            return false;
        }
        *taken += usize::from(host.at() <= self.query.until);
        self.add(host);
        let is_cut = *taken > self.query.most;
        if is_cut {
            self.note(host.work);
        }
        !is_cut
    }

    fn note(&mut self, time: UnixMillis) {
        self.next = Some(self.next.map_or(time, |next| next.min(time)));
    }

    fn finish(mut self) -> DueHosts {
        self.hosts.sort_unstable_by_key(|host| (host.at(), host.host));
        let others = self.hosts.split_off(self.hosts.len().min(self.query.most));
        if let Some(first) = others.first() {
            self.note(first.at());
        }
        DueHosts { hosts: self.hosts, next: self.next }
    }
}

impl Frontier {
    /// The hosts that have work, without those that `skip` says, the first ones first. Hosts that
    /// got work from links that waited are among them in any case, each once.
    pub fn due_hosts(
        &self,
        query: DueQuery,
        skip: impl Fn(HostNumber) -> bool,
    ) -> Result<DueHosts, FrontierError> {
        let mut working = self.working()?;
        let found = find_and_decide(&self.disk, working.state.hosts(), query, &skip);
        found.map_err(|error| self.named(error))
    }
}

/// Finds hosts, after links have been decided that are older than what they have to do.
fn find_and_decide(
    disk: &Disk,
    hosts: &mut Hosts,
    query: DueQuery,
    skip: &impl Fn(HostNumber) -> bool,
) -> Result<DueHosts, FrontierError> {
    let mut found = find(disk, hosts, query, skip)?;
    let is_full = found.hosts.len() >= query.most;
    let limit = found.hosts.last().filter(|_| is_full).map_or(query.until, HostWithWork::at);
    let with_links = hosts.with_stored_links(disk, MAX_DECIDED + 1)?;
    let is_due = |(at, _): &&(UnixMillis, HostNumber)| at.plus(INBOX_PATIENCE) <= limit;
    let due = with_links.iter().take_while(is_due).take(MAX_DECIDED);
    let due: Vec<HostNumber> = due.map(|(_, host)| *host).collect();
    for host in &due {
        // Reading a host decides the links to it.
        hosts.get(disk, *host)?;
    }
    if !due.is_empty() {
        found = find(disk, hosts, query, skip)?;
    }
    for number in hosts.take_got_work() {
        let Some(host) = hosts.get(disk, number)? else { continue };
        let entry = host.work(disk)?.filter(|entry| entry.revisit_base.is_none());
        let is_new = found.hosts.iter().all(|known| known.host != number);
        found.hosts.extend(entry.filter(|_| is_new).and_then(|entry| query.host_of(&entry)));
    }
    let others = with_links.get(due.len()).map(|(at, _)| at.plus(INBOX_PATIENCE));
    // The next checkpoint writes those in memory. It is not waited for without a pause.
    let later = query.until.plus_ms(SEARCH_PAUSE_MS);
    let in_memory = hosts.first_link_in_memory().map(|at| at.plus(INBOX_PATIENCE).max(later));
    found.next = [others, in_memory, found.next].into_iter().flatten().min();
    Ok(found)
}

/// Finds hosts in the file, as far as it has them as they are, and the others in memory.
fn find(
    disk: &Disk,
    hosts: &mut Hosts,
    query: DueQuery,
    skip: &impl Fn(HostNumber) -> bool,
) -> Result<DueHosts, FrontierError> {
    let mut collector = Collector { query, hosts: Vec::new(), next: None };
    for entry in hosts.changed_work(disk)? {
        if !skip(entry.host) {
            query.host_of(&entry).into_iter().for_each(|host| collector.add(host));
        }
    }
    let is_passed = |number: HostNumber| skip(number) || !hosts.is_as_on_disk(number);
    for times in [UnixMillis(i64::MIN)..=query.latest(), query.latest().plus_ms(1)..=END] {
        disk.queued_hosts(times.clone(), in_order(&mut collector, is_passed))?;
        if query.revisit_period_ms.is_some() {
            disk.revisited_hosts(times, in_order(&mut collector, is_passed))?;
        }
    }
    Ok(collector.finish())
}

/// Gives the entries of an index to the collector until it has enough of them.
fn in_order(
    collector: &mut Collector,
    is_passed: impl Fn(HostNumber) -> bool,
) -> impl FnMut(WorkEntry) -> bool {
    let mut taken = 0;
    move |entry| match collector.query.host_of(&entry) {
        Some(host) if !is_passed(entry.host) => collector.add_in_order(host, &mut taken),
        _ => true,
    }
}
