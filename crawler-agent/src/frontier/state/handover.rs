//! Handover of a host as a bundle: what leaves with it, and how it joins what the next agent has.

use std::collections::HashSet;

use model::UnixMillis;

use super::{
    QueuedPath, State,
    host::{Host, url_of},
    seen::shortened,
    short,
};
use crate::frontier::{
    Effect, FrontierError, HostBundle, HostNumber, PageHistory, PageRecord, QueuedUrl,
    bundle::MAX_URLS, disk::Disk,
};

/// Longest time for which a bundle may keep its host from being fetched, in milliseconds. The
/// longest back-off of the agent is shorter.
const MAX_PAUSE_MS: i64 = 24 * 3_600_000;

impl Host {
    /// Everything that is known of the host; none where that are more URLs than a bundle may have.
    pub(super) fn bundle(&mut self, disk: &Disk) -> Result<Option<HostBundle>, FrontierError> {
        if self.queue.len() + self.pages.len() + self.seen.len() > MAX_URLS {
            return Ok(None);
        }
        let number = self.number;
        let mut seen: HashSet<u64> =
            self.seen.all(|run| disk.seen_run(number, run))?.into_iter().collect();
        let mut queue = Vec::with_capacity(self.queue.len());
        for ((depth, _), url) in self.queue.all(|from, most| disk.queue(number, from, most))? {
            let QueuedPath { path, redirects, attempts } = url.clone();
            seen.remove(&short(url_of(&self.record.key, &path)?.fingerprint()));
            queue.push(QueuedUrl { path, depth, redirects, attempts });
        }
        let mut pages = Vec::with_capacity(self.pages.len());
        for ((visited, _), page) in self.pages.all(|from, most| disk.pages(number, from, most))? {
            seen.remove(&short(url_of(&self.record.key, &page.path)?.fingerprint()));
            pages.push((UnixMillis(visited), (**page).clone()));
        }
        // In one order, so that the same host gives the same bytes.
        let mut seen: Vec<u64> = seen.into_iter().collect();
        seen.sort_unstable();
        Ok(Some(HostBundle { record: self.record.clone(), queue, pages, seen }))
    }

    /// Adds a fingerprint; returns whether it was not there.
    fn see(&mut self, disk: &Disk, url: u64) -> Result<bool, FrontierError> {
        let number = self.number;
        let is_new = !self.seen.contains(url, |run| disk.seen_run(number, run))?;
        if is_new {
            self.seen.add(url);
        }
        Ok(is_new)
    }

    /// Takes the state of the host itself: the later time of the next request, and the failures.
    fn join_record(&mut self, bundle: &HostBundle, at: UnixMillis) {
        // The former agent may be wrong about the time, or lie.
        let due = bundle.record.due.min(at.plus_ms(MAX_PAUSE_MS));
        self.record.due = self.record.due.max(due);
        self.record.failures = self.record.failures.max(bundle.record.failures);
    }

    /// Adds the URLs of the bundle that are not known here. Returns how many of them are in the
    /// queue.
    fn join_urls(
        &mut self,
        disk: &Disk,
        bundle: &HostBundle,
        placing: BundlePlacement,
    ) -> Result<u32, FrontierError> {
        let queued = self.join_queue(disk, &bundle.queue, placing)?;
        let pages = self.join_pages(disk, &bundle.pages, placing)?;
        let mut others = 0_u32;
        for url in &bundle.seen {
            others += u32::from(self.see(disk, shortened(*url))?);
        }
        // Of the other URLs only some count: not those whose pages are gone.
        let live = u32::try_from(bundle.queue.len() + bundle.pages.len()).unwrap_or(u32::MAX);
        let others = others.min(bundle.record.accepted.saturating_sub(live));
        self.record.accepted = self.record.accepted.saturating_add(queued + pages + others);
        Ok(queued)
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
            if self.see(disk, short(url_of(&self.record.key, path)?.fingerprint()))? {
                let path = path.clone();
                let url = QueuedPath { path, redirects: *redirects, attempts: *attempts };
                self.queue.insert((*depth, order), url);
                joined += 1;
            }
        }
        Ok(joined)
    }

    /// Adds pages. One that is queued here already is fetched as a new one.
    fn join_pages(
        &mut self,
        disk: &Disk,
        pages: &[(UnixMillis, PageRecord)],
        placing: BundlePlacement,
    ) -> Result<u32, FrontierError> {
        let mut joined = 0;
        for (order, (visited, page)) in (placing.order..).zip(pages) {
            if self.see(disk, short(url_of(&self.record.key, &page.path)?.fingerprint()))? {
                let past = if placing.keeps_times { page.past } else { PageHistory::default() };
                // A visit in the future would put the next one off.
                let visited = (*visited).min(placing.at);
                self.insert_page((visited.0, order), PageRecord { past, ..page.clone() });
                joined += 1;
            }
        }
        Ok(joined)
    }
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
    /// Removes a host whose bundle is stored. `more` in the effect means that the host has changed
    /// since the bundle was made: nothing was done.
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
                return Ok(Effect { more: true, ..Effect::default() });
            }
            self.hosts.queued -= found.queue.len() as u64;
            self.hosts.remove(host);
        }
        self.record_executed(number);
        Ok(Effect::default())
    }

    /// Takes a host over. Taken twice, a bundle changes nothing.
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
        let queued = host.join_urls(disk, bundle, placing)?;
        let due = host.record.due;
        self.totals.next_order += bundle.urls() as u64;
        self.hosts.queued += u64::from(queued);
        let mut effect = Effect::default();
        effect.ready.push((number, due));
        self.look_ahead(disk, number, &mut effect)?;
        Ok(effect)
    }
}
