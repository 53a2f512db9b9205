//! Handover of a host as a bundle: what leaves with it, and how it joins what the next agent has.

use std::collections::{BTreeMap, HashSet};

use model::UnixMillis;

use super::{
    QueuedPath, State,
    host::{Arrival, Host, stored_url_of},
    seen::{SeenUrl, shortened},
    short,
};
use crate::frontier::{
    AdoptedUrl, Bounds, Effect, FrontierError, GIVE_UP, HostBundle, HostNumber, KnownPage,
    PageHistory, PageRecord, Progress, QueuedUrl, bundle::MAX_URLS, disk::Disk,
};

/// Longest time for which a bundle may keep its host from being fetched, in milliseconds. A host
/// that rests longer because it is gone may be there for this agent.
const MAX_PAUSE_MS: i64 = 24 * 3_600_000;

impl Host {
    /// Everything that is known of the host; none where that are more URLs than a bundle may have.
    pub(in crate::frontier) fn bundle(
        &mut self,
        disk: &Disk,
    ) -> Result<Option<HostBundle>, FrontierError> {
        if self.queue.len() + self.pages.len() + self.seen.len() > MAX_URLS {
            return Ok(None);
        }
        let mut seen: HashSet<SeenUrl> =
            self.seen.all(disk.seen_runs(self.number))?.into_iter().collect();
        let mut queue = Vec::with_capacity(self.queue.len());
        for ((depth, _), url) in self.queue.all(disk.queue(self.number))? {
            let QueuedPath { path, redirects, attempts } = url.clone();
            seen.remove(&seen_url(&self.record.key, &path)?);
            queue.push(QueuedUrl { path, depth, redirects, attempts });
        }
        let mut pages = Vec::with_capacity(self.pages.len());
        for ((base, _), page) in self.pages.all(disk.pages(self.number))? {
            seen.remove(&seen_url(&self.record.key, &page.path)?);
            let revisit_base = UnixMillis(base);
            let known = KnownPage { revisit_base, record: (**page).clone() };
            pages.push((known.visited(), known.record));
        }
        // In one order, so that the same host gives the same bytes.
        let mut seen: Vec<u64> = seen.into_iter().collect();
        seen.sort_unstable();
        Ok(Some(HostBundle { record: self.record.clone(), queue, pages, seen }))
    }

    /// Adds a fingerprint; returns whether it was not there.
    fn see(&mut self, disk: &Disk, url: u64) -> Result<bool, FrontierError> {
        let is_new = !self.seen.contains(url, disk.seen_runs(self.number))?;
        if is_new {
            self.seen.add(url);
        }
        Ok(is_new)
    }

    /// Takes the state of the host itself: the later time of the next request. The failures are the
    /// former agent's: this one may reach the host.
    fn join_record(&mut self, bundle: &HostBundle, at: UnixMillis) {
        // This agent may reach the host although the former one never did.
        if bundle.is_given_up() {
            return;
        }
        // The former agent may be wrong about the time, or lie.
        let due = bundle.record.due.min(at.plus_ms(MAX_PAUSE_MS));
        self.record.due = self.record.due.max(due);
    }

    /// Adds queued URLs that are not known here and pages that are no pages here, and ends the
    /// waiting of URLs that were fetched.
    fn join_urls(
        &mut self,
        disk: &Disk,
        bundle: &HostBundle,
        placing: BundlePlacement,
    ) -> Result<(), FrontierError> {
        self.end_waiting(disk, &bundle.fetched()?)?;
        let queued = self.join_queue(disk, &bundle.queue, placing)?;
        // Pages without content join the queue, too: an equal number would replace a URL of it.
        let order = placing.order + bundle.queue.len() as u64;
        let placing = BundlePlacement { order, ..placing };
        let pages = self.join_pages(disk, &bundle.pages, placing)?;
        // The former agent may have invented these, and no visit would reveal it. So they do not
        // count towards the bound of the host's pages.
        for url in &bundle.seen {
            self.see(disk, shortened(*url))?;
        }
        let accepted = self.record.accepted.saturating_add(queued + pages);
        // A page that was gone had freed its place, and takes one again.
        let here = u32::try_from(self.queue.len() + self.pages.len()).unwrap_or(u32::MAX);
        self.record.accepted = accepted.max(here);
        Ok(())
    }

    fn join_queue(
        &mut self,
        disk: &Disk,
        queue: &[QueuedUrl],
        placing: BundlePlacement,
    ) -> Result<u32, FrontierError> {
        let mut joined = 0;
        for (order, url) in (placing.order..).zip(queue) {
            let QueuedUrl { path, depth, redirects, attempts } = url;
            if self.see(disk, seen_url(&self.record.key, path)?)? {
                let path = path.clone();
                let url = QueuedPath { path, redirects: *redirects, attempts: *attempts };
                self.queue.insert((*depth, order), url);
                joined += 1;
            }
        }
        Ok(joined)
    }

    /// Adds pages that neither wait here nor are pages. Those of which the former agent has no
    /// content are queued: this one may get it. Returns how many URLs were not known.
    fn join_pages(
        &mut self,
        disk: &Disk,
        pages: &[(UnixMillis, PageRecord)],
        placing: BundlePlacement,
    ) -> Result<u32, FrontierError> {
        let mut live = self.live_urls(disk)?;
        let mut joined = 0;
        for (order, visit) in (placing.order..).zip(pages) {
            let url = seen_url(&self.record.key, &visit.1.path)?;
            joined += u32::from(self.see(disk, url)?);
            // Also where it was seen: of a URL that others fetched this agent may know only that.
            // It is visited again only as a page, and the former agent forgets the page when this
            // one has taken the bundle.
            if live.insert(url) {
                self.join_page(visit, order, placing);
            }
        }
        Ok(joined)
    }

    fn join_page(
        &mut self,
        (visited, page): &(UnixMillis, PageRecord),
        order: u64,
        placing: BundlePlacement,
    ) {
        if page.has_content() {
            let past = if placing.keeps_times { page.past } else { PageHistory::default() };
            // A visit in the future would put the next one off.
            let visited = (*visited).min(placing.at);
            self.insert_page(visited, order, PageRecord { past, ..page.clone() });
        } else {
            let path = page.path.as_str().into();
            let url = QueuedPath { path, redirects: 0, attempts: 0 };
            self.queue.insert((page.depth, order), url);
        }
    }

    /// The URLs that wait or are pages.
    fn live_urls(&mut self, disk: &Disk) -> Result<HashSet<SeenUrl>, FrontierError> {
        let mut urls = HashSet::new();
        for (_, url) in self.queue.all(disk.queue(self.number))? {
            urls.insert(seen_url(&self.record.key, &url.path)?);
        }
        for (_, page) in self.pages.all(disk.pages(self.number))? {
            urls.insert(seen_url(&self.record.key, &page.path)?);
        }
        Ok(urls)
    }

    /// Removes from the queue what another agent has fetched. An agent that gets a host back still
    /// has these URLs in its queue. Returns how many were removed.
    fn end_waiting(
        &mut self,
        disk: &Disk,
        fetched: &HashSet<SeenUrl>,
    ) -> Result<usize, FrontierError> {
        if !self.has_queued() || fetched.is_empty() {
            return Ok(0);
        }
        let mut waiting = Vec::new();
        for (key, url) in self.queue.all(disk.queue(self.number))? {
            if fetched.contains(&seen_url(&self.record.key, &url.path)?) {
                waiting.push(key);
            }
        }
        for key in &waiting {
            self.dequeue(disk, *key)?;
        }
        Ok(waiting.len())
    }
}

impl HostBundle {
    /// Whether the former agent tried every URL and the host did not answer. An answer ends the
    /// failures: what it asked for, such as a pause, holds for the next agent, too.
    pub(in crate::frontier) fn is_given_up(&self) -> bool {
        let has_failed = self.record.failures >= GIVE_UP;
        has_failed
            && self.queue.is_empty()
            && !self.pages.iter().any(|(_, page)| page.has_content())
    }

    /// The URLs that the former agent is done with: those that did not become pages, and pages with
    /// content, which it has reported.
    fn fetched(&self) -> Result<HashSet<SeenUrl>, FrontierError> {
        let mut fetched: HashSet<SeenUrl> = self.seen.iter().copied().map(shortened).collect();
        for (_, page) in self.pages.iter().filter(|(_, page)| page.has_content()) {
            fetched.insert(seen_url(&self.record.key, &page.path)?);
        }
        Ok(fetched)
    }
}

/// The fingerprint of a stored path, as it is remembered.
fn seen_url(key: &str, path: &str) -> Result<SeenUrl, FrontierError> {
    Ok(short(stored_url_of(key, path)?.fingerprint()))
}

/// How the URLs of a bundle are placed.
#[derive(Clone, Copy)]
struct BundlePlacement {
    /// The first number of the URLs; as many numbers as there are URLs are free.
    order: u64,
    /// Whether the times of the pages count.
    keeps_times: bool,
    /// The present time.
    at: UnixMillis,
}

impl State {
    /// Removes a host whose bundle is stored. The change is outdated if the host has changed since
    /// the bundle was made.
    pub(super) fn hand_over(
        &mut self,
        disk: &Disk,
        number: u64,
        host: HostNumber,
        accepted: u32,
    ) -> Result<Effect, FrontierError> {
        // Executed before; the host may have come back since.
        if self.totals.orders.contains_key(&number) {
            return Ok(Effect::default());
        }
        if let Some(found) = self.hosts.get_mut(disk, host)? {
            // A link of another host may have come in between.
            if found.record.accepted != accepted {
                return Ok(Effect { progress: Progress::Outdated, ..Effect::default() });
            }
            self.hosts.queued -= found.queue.len() as u64;
            self.hosts.remove(host);
        }
        self.record_executed(number);
        Ok(Effect::default())
    }

    /// Takes a host over. Taken again, a bundle adds only pages that have gone since.
    pub(super) fn take_over(
        &mut self,
        disk: &Disk,
        bundle: &HostBundle,
        keeps_times: bool,
        at: UnixMillis,
    ) -> Result<Effect, FrontierError> {
        let number = self.acquire_host(&bundle.record.key, at);
        let placing = BundlePlacement { order: self.totals.next_order, keeps_times, at };
        let Some(host) = self.hosts.get_mut(disk, number)? else { return Ok(Effect::default()) };
        // Two keys with equal hashes: the host is another one.
        if host.record.key != bundle.record.key {
            return Ok(Effect::default());
        }
        host.join_record(bundle, at);
        let before = host.queue.len() as u64;
        host.join_urls(disk, bundle, placing)?;
        let after = host.queue.len() as u64;
        let due = host.record.due;
        self.totals.next_order += bundle.urls() as u64;
        self.hosts.queued = (self.hosts.queued + after).saturating_sub(before);
        let mut effect = Effect::default();
        effect.ready.push((number, due));
        self.look_ahead(disk, number, &mut effect)?;
        Ok(effect)
    }

    /// Queues URLs of hosts that are the agent's from now on, and remembers those that others have
    /// fetched.
    pub(super) fn adopt(
        &mut self,
        disk: &Disk,
        urls: &[AdoptedUrl],
        at: UnixMillis,
        bounds: Bounds,
    ) -> Result<Effect, FrontierError> {
        let mut effect = Effect::default();
        let mut fetched: BTreeMap<HostNumber, HashSet<SeenUrl>> = BTreeMap::new();
        for adopted in urls.iter().filter(|adopted| adopted.depth <= bounds.depth) {
            let AdoptedUrl { url, depth, redirects, is_fetched } = adopted;
            let number = self.acquire_host(url.host_key_str(), at);
            if *is_fetched {
                fetched.entry(number).or_default().insert(short(url.fingerprint()));
            } else {
                let arrival = Arrival { url, depth: *depth, redirects: *redirects };
                self.enqueue(disk, number, arrival, bounds, &mut effect)?;
            }
        }
        for (number, fetched) in fetched {
            self.remember(disk, number, fetched)?;
        }
        Ok(effect)
    }

    /// Remembers URLs that others have fetched, so that they are not fetched here.
    fn remember(
        &mut self,
        disk: &Disk,
        number: HostNumber,
        fetched: HashSet<SeenUrl>,
    ) -> Result<(), FrontierError> {
        let Some(host) = self.hosts.get_mut(disk, number)? else { return Ok(()) };
        let mut known = HashSet::new();
        for url in fetched {
            if host.see(disk, url)? {
                host.record.accepted = host.record.accepted.saturating_add(1);
            } else {
                known.insert(url);
            }
        }
        self.hosts.queued -= host.end_waiting(disk, &known)? as u64;
        Ok(())
    }
}
