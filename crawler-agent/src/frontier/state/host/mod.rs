//! Host: what the agent knows of one host, and the decisions about its URLs.

mod drain;
mod rows;
mod stated_changes;

use std::sync::Arc;

use model::{CrawlUrl, UnixMillis, UrlError, url::fingerprint};
use serde::{Deserialize, Serialize};

use super::{
    inbox::{InboxUrl, Links},
    seen::SeenUrls,
    short,
    window::{PageKey, QueueKey, Value, Window},
};
use crate::frontier::{
    Bounds, FrontierError, HostNumber, HostRecord, KnownPage, PageHistory, PageRecord, QueueItem,
    RobotsState,
    disk::{Disk, rows::HostRow},
};
pub(in crate::frontier) use rows::{HostChanges, RobotsChange};

/// Bytes of a host in memory without its entries: with its key, and with its slot in a table.
const HOST_BYTES: usize = size_of::<Host>() + 80;
/// Approximate bytes that the allocator needs for a text in addition to its own.
const TEXT_BYTES: usize = 12;

/// URLs that may end at their first visit for each page of the bound of a host.
const ENDED_FACTOR: u32 = 5;

/// Most URLs of a host among which one is searched.
const MOST_SEARCHED: usize = 1_000;

/// A URL in the queue of its host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::frontier) struct QueuedPath {
    /// Path and query.
    pub(in crate::frontier) path: Box<str>,
    /// Number of redirects that led to it.
    pub(in crate::frontier) redirects: u8,
    /// Number of attempts that failed.
    pub(in crate::frontier) attempts: u8,
}

impl Value for QueuedPath {
    fn bytes(&self) -> usize {
        self.path.len() + TEXT_BYTES
    }
}

impl Value for Box<PageRecord> {
    fn bytes(&self) -> usize {
        let validators = self.etag.iter().chain(&self.last_modified);
        let texts: usize = validators.map(|text| text.capacity() + TEXT_BYTES).sum();
        size_of::<PageRecord>() + self.path.capacity() + TEXT_BYTES + texts
    }
}

/// A URL that is to be admitted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arrival<'a> {
    pub(super) url: &'a CrawlUrl,
    pub(super) depth: u16,
    pub(super) redirects: u8,
}

impl Arrival<'_> {
    /// What its host's queue has of it.
    pub(super) fn queued(&self) -> QueuedPath {
        let path = self.url.path_and_query().into();
        QueuedPath { path, redirects: self.redirects, attempts: 0 }
    }
}

/// Result of admitting a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Admission {
    /// The URL is in the queue.
    Queued,
    /// The URL was queued before.
    Known,
    /// The host has reached its limit of pages.
    Full,
}

/// One host in memory. Its first URLs and pages are here, the others on disk.
#[expect(clippy::struct_excessive_bools, reason = "what a checkpoint has of it, fact by fact")]
#[derive(Debug)]
pub(in crate::frontier) struct Host {
    pub(super) number: HostNumber,
    pub(super) record: HostRecord,
    robots: Option<Arc<RobotsState>>,
    robots_bytes: usize,
    pub(super) queue: Window<QueueKey, QueuedPath>,
    pub(super) seen: SeenUrls,
    pub(super) pages: Window<PageKey, Box<PageRecord>>,
    /// Whether there are changes that no checkpoint has.
    pub(super) is_changed: bool,
    /// Whether the checkpoint that is being written has changes of this host.
    pub(super) is_being_written: bool,
    has_new_rules: bool,
    /// Whether links to it are on disk that are decided.
    has_decided: bool,
    /// When it was used last, in uses of all hosts.
    pub(super) last_use: u64,
}

impl Host {
    /// A host without URLs.
    pub(super) fn new(number: HostNumber, record: HostRecord) -> Self {
        Self {
            number,
            record,
            robots: None,
            robots_bytes: 0,
            queue: Window::on_disk(0),
            seen: SeenUrls::default(),
            pages: Window::on_disk(0),
            is_changed: true,
            is_being_written: false,
            has_new_rules: false,
            has_decided: false,
            last_use: 0,
        }
    }

    /// A host whose rows are on disk.
    pub(super) fn on_disk(number: HostNumber, row: HostRow, robots: Option<RobotsState>) -> Self {
        Self {
            robots_bytes: robots.as_ref().map_or(0, RobotsState::bytes),
            robots: robots.map(Arc::new),
            queue: Window::on_disk(row.queued as usize),
            seen: SeenUrls::on_disk(&row.seen_runs),
            pages: Window::on_disk(row.pages as usize),
            is_changed: false,
            ..Self::new(number, row.record)
        }
    }

    /// Bytes in memory, about.
    pub(super) fn bytes(&self) -> usize {
        let windows = self.queue.bytes() + self.pages.bytes();
        HOST_BYTES + self.robots_bytes + windows + self.seen.bytes()
    }

    pub(super) fn robots(&self) -> Option<Arc<RobotsState>> {
        self.robots.clone()
    }

    pub(super) fn set_robots(&mut self, robots: Option<RobotsState>) {
        self.robots_bytes = robots.as_ref().map_or(0, RobotsState::bytes);
        self.robots = robots.map(Arc::new);
        self.has_new_rules = true;
    }

    /// Whether a URL of this host was ever queued.
    pub(super) fn is_known(&mut self, disk: &Disk, url: &CrawlUrl) -> Result<bool, FrontierError> {
        self.seen.contains(short(url.fingerprint()), disk.seen_runs(self.number))
    }

    /// Queues a URL of this host, unless it was ever queued.
    pub(super) fn enqueue(
        &mut self,
        disk: &Disk,
        arrival: Arrival<'_>,
        order: u64,
        bounds: Bounds,
    ) -> Result<Admission, FrontierError> {
        let url = short(arrival.url.fingerprint());
        if self.seen.contains(url, disk.seen_runs(self.number))? {
            return Ok(Admission::Known);
        }
        // Traps such as endless calendars end here. So do those without any pages, such as endless
        // redirects, whose URLs are counted over the lifetime of the host.
        let most_ended = bounds.pages_a_host.saturating_mul(ENDED_FACTOR);
        if self.record.accepted >= bounds.pages_a_host || self.record.ended >= most_ended {
            return Ok(Admission::Full);
        }
        self.seen.add(url);
        self.record.accepted += 1;
        self.queue.insert((arrival.depth, order), arrival.queued());
        Ok(Admission::Queued)
    }

    /// Whether a URL was queued once, and is neither in the queue nor a page any more. Not known of
    /// hosts with many URLs, all of which would have to be read.
    pub(super) fn has_ended(&mut self, disk: &Disk, url: &CrawlUrl) -> Result<bool, FrontierError> {
        if self.queue.len() + self.pages.len() > MOST_SEARCHED || !self.is_known(disk, url)? {
            return Ok(false);
        }
        let wanted = url.fingerprint();
        let (queued, pages) = self.paths(disk)?;
        let key = &self.record.key;
        let is_wanted = |path: &String| fingerprint(&format!("{key}{path}")) == wanted;
        Ok(!queued.iter().chain(&pages).any(is_wanted))
    }

    /// Decides the links that came while the host was not in memory; returns how many are queued.
    pub(super) fn decide(&mut self, disk: &Disk, links: Links) -> Result<u32, FrontierError> {
        // The checkpoint with the next changes deletes them.
        self.has_decided |= links.are_stored;
        self.is_changed |= links.are_stored;
        let mut queued = 0;
        for (order, link) in links.urls {
            queued += u32::from(self.decide_link(disk, order, &link)?);
        }
        Ok(queued)
    }

    fn decide_link(
        &mut self,
        disk: &Disk,
        order: u64,
        link: &InboxUrl,
    ) -> Result<bool, FrontierError> {
        // Most links lead to known URLs, which need not be put together.
        if self.seen.contains(link.fingerprint, disk.seen_runs(self.number))? {
            return Ok(false);
        }
        // The rules of URLs may have become stricter since the link came.
        let Ok(url) = url_of(&self.record.key, &link.path) else { return Ok(false) };
        // Two keys with equal hashes: it is a URL of another host.
        if !link.is(&url) {
            return Ok(false);
        }
        let InboxUrl { depth, redirects, pages_a_host, .. } = *link;
        let bounds = Bounds { pages_a_host, depth };
        let arrival = Arrival { url: &url, depth, redirects };
        let is_queued = self.enqueue(disk, arrival, order, bounds)? == Admission::Queued;
        self.is_changed |= is_queued;
        Ok(is_queued)
    }

    /// The first URL of the queue.
    pub(super) fn next(&mut self, disk: &Disk) -> Result<Option<QueueItem>, FrontierError> {
        let first = self.queue.first(disk.queue(self.number))?;
        let Some(((depth, order), queued)) = first else { return Ok(None) };
        Ok(Some(QueueItem {
            host: self.number,
            depth,
            order,
            url: stored_url_of(&self.record.key, &queued.path)?,
            redirects: queued.redirects,
            attempts: queued.attempts,
            known: None,
        }))
    }

    /// Paths of the queue, and of the pages.
    pub(in crate::frontier) fn paths(
        &mut self,
        disk: &Disk,
    ) -> Result<(Vec<String>, Vec<String>), FrontierError> {
        let queue = self.queue.all(disk.queue(self.number))?;
        let queued = queue.map(|(_, queued)| queued.path.to_string()).collect();
        let pages = self.pages.all(disk.pages(self.number))?;
        Ok((queued, pages.map(|(_, page)| page.path.clone()).collect()))
    }

    /// The page that is visited again first.
    pub(super) fn next_page(&mut self, disk: &Disk) -> Result<Option<QueueItem>, FrontierError> {
        let first = self.pages.first(disk.pages(self.number))?;
        let Some(((base, order), record)) = first else { return Ok(None) };
        let known = KnownPage { revisit_base: UnixMillis(base), record: (**record).clone() };
        Ok(Some(QueueItem {
            host: self.number,
            depth: record.depth,
            order,
            url: stored_url_of(&self.record.key, &record.path)?,
            redirects: 0,
            attempts: 0,
            known: Some(Box::new(known)),
        }))
    }

    /// Whether the queue holds URLs.
    pub(super) fn has_queued(&self) -> bool {
        self.queue.len() > 0
    }

    /// The earliest revisit base of the pages.
    pub(super) fn first_revisit_base(
        &mut self,
        disk: &Disk,
    ) -> Result<Option<UnixMillis>, FrontierError> {
        let first = self.pages.first(disk.pages(self.number))?;
        Ok(first.map(|((base, _), _)| UnixMillis(base)))
    }

    /// Removes a URL from the queue.
    pub(super) fn dequeue(
        &mut self,
        disk: &Disk,
        key: QueueKey,
    ) -> Result<Option<QueuedPath>, FrontierError> {
        self.queue.remove(key, disk.queue(self.number))
    }

    /// Removes the URL of the queue with this path; returns whether there was one.
    pub(super) fn dequeue_path(&mut self, disk: &Disk, path: &str) -> Result<bool, FrontierError> {
        let found = self.queue.find(disk.queue(self.number), |url| &*url.path == path)?;
        let Some(key) = found else { return Ok(false) };
        Ok(self.dequeue(disk, key)?.is_some())
    }

    /// Counts a failed attempt of the URL, which keeps its place in the queue.
    pub(super) fn count_attempt(
        &mut self,
        disk: &Disk,
        key: QueueKey,
    ) -> Result<(), FrontierError> {
        if let Some(queued) = self.dequeue(disk, key)? {
            let attempts = queued.attempts.saturating_add(1);
            self.queue.insert(key, QueuedPath { attempts, ..queued });
        }
        Ok(())
    }

    /// Removes a page that was visited again.
    pub(super) fn remove_page(
        &mut self,
        disk: &Disk,
        key: PageKey,
    ) -> Result<Option<PageRecord>, FrontierError> {
        let removed = self.pages.remove(key, disk.pages(self.number))?;
        Ok(removed.map(|page| *page))
    }

    /// Removes the page with this path, which is not in the queue. Reads all pages of the host.
    pub(super) fn remove_page_at(&mut self, disk: &Disk, path: &str) -> Result<(), FrontierError> {
        if let Some(key) = self.pages.find(disk.pages(self.number), |page| page.path == path)? {
            self.remove_page(disk, key)?;
        }
        Ok(())
    }

    /// Adds a page that was visited at `visited`.
    pub(super) fn insert_page(&mut self, visited: UnixMillis, order: u64, record: PageRecord) {
        let (base, record) = record.with_revisit_base(visited);
        self.pages.insert((base.0, order), Box::new(record));
    }

    /// A URL ended at its first visit: another one may take its place among the pages of the host.
    pub(super) fn url_has_ended(&mut self) {
        self.page_is_gone();
        self.record.ended = self.record.ended.saturating_add(1);
    }

    /// A page is gone: another URL may take its place among the pages of the host.
    pub(super) fn page_is_gone(&mut self) {
        self.record.accepted = self.record.accepted.saturating_sub(1);
    }

    /// Resets the response times of all pages.
    pub(super) fn settle(&mut self, disk: &Disk) -> Result<(), FrontierError> {
        self.pages.update_all(disk.pages(self.number), |page| page.past = PageHistory::default())
    }
}

/// The URL of a stored path, which the rules of URLs may have forbidden since it was stored: the
/// visit ends it then. One that is no URL at all means that the file is damaged.
pub(in crate::frontier) fn stored_url_of(key: &str, path: &str) -> Result<CrawlUrl, FrontierError> {
    let url = format!("{key}{path}");
    CrawlUrl::stored(&url).map_err(|_| FrontierError::Url(url))
}

/// The URL of a stored path, by the present rules of URLs.
pub(in crate::frontier) fn url_of(key: &str, path: &str) -> Result<CrawlUrl, UrlError> {
    CrawlUrl::parse(&format!("{key}{path}"))
}
