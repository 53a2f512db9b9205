//! The frontier's state in memory, and the changes of it.
//!
//! Everything here is decided without input or output, except that a host which is not in memory is
//! read from disk. Applied to the same state, the same changes give the same state; the log relies
//! on it.
//!
//! - [`host`]: one host; [`window`], [`seen`]: its URLs, of which only some are in memory
//! - [`inbox`]: links to hosts that are not in memory
//! - [`hosts`]: which hosts are in memory; [`numbers`]: which there are
//! - [`apply`], [`release`], [`handover`]: the changes; [`visited`]: what becomes of a visited URL;
//!   [`rests`]: what ends the rest of a host
//! - [`filters`]: counts of the combinations of a site's filters

mod apply;
mod filters;
mod handover;
mod host;
mod hosts;
pub(super) mod inbox;
pub(super) mod numbers;
mod release;
mod rests;
pub(super) mod seen;
mod visited;
pub(super) mod window;

use std::{collections::BTreeMap, sync::Arc};

use model::{
    CrawlUrl, Fingerprint, RecentSet,
    traps::{filter_of, is_far_calendar},
};
use protocol::page::MAX_REDIRECTS;

use super::{
    Change, Counts, Done, FrontierError, HostNumber, HostSnapshot,
    change::Report,
    disk::{Disk, rows::Totals},
};
use filters::Filters;
use inbox::InboxUrl;
use numbers::StoredList;
use seen::{SeenUrl, shortened};

pub(super) use host::{Host, HostChanges, QueuedPath, RobotsChange, url_of};
pub(super) use hosts::Hosts;

/// Most URLs in the filter of reported ones, which take about 2 MiB.
const REPORTED: usize = 1 << 17;

/// A result that is not packed yet.
#[derive(Debug)]
struct StoredResult {
    bytes: Arc<[u8]>,
    is_on_disk: bool,
}

/// All changes for a checkpoint.
#[derive(Default)]
pub(super) struct Checkpoint {
    pub(super) totals: Totals,
    /// Hosts that were released: all their rows are deleted first.
    pub(super) released: Vec<HostNumber>,
    pub(super) hosts: Vec<HostChanges>,
    /// Links to hosts that are not in memory.
    pub(super) inbox: Vec<(HostNumber, u64, InboxUrl)>,
    /// Lists of host numbers.
    pub(super) numbers: Vec<StoredList>,
    /// Numbers of results to delete.
    pub(super) packed: Vec<u64>,
    pub(super) results: Vec<(u64, Arc<[u8]>)>,
}

/// The whole state.
pub(super) struct State {
    totals: Totals,
    hosts: Hosts,
    results: BTreeMap<u64, StoredResult>,
    result_bytes: usize,
    /// Results to delete from disk with the next checkpoint.
    packed: Vec<u64>,
    /// URLs of other agents' hosts that were reported not long ago, so that a link that is on every
    /// page of a site is not reported with each page. After a restart a URL may be reported again;
    /// the coordinator takes each URL once.
    reported: RecentSet<SeenUrl>,
    filters: Filters,
}

impl State {
    /// The state of the last checkpoint.
    pub(super) fn load(disk: &Disk, totals: Totals) -> Result<Self, FrontierError> {
        let queued = totals.queued;
        let mut state = Self {
            totals,
            hosts: Hosts::load(disk, queued)?,
            results: BTreeMap::new(),
            result_bytes: 0,
            packed: Vec::new(),
            reported: RecentSet::new(REPORTED),
            filters: Filters::default(),
        };
        for (order, bytes) in disk.results()? {
            state.insert_result(order, &bytes, true);
        }
        Ok(state)
    }

    pub(super) fn totals(&self) -> &Totals {
        &self.totals
    }

    /// Sorts the URLs that a change brings: those of other agents' hosts become reports, unless
    /// they were reported not long ago. The selection depends on filters in memory, which a replay
    /// of the log does not have. So it is made before the change is logged, and the log has its
    /// result.
    pub(super) fn select_links(
        &mut self,
        disk: &Disk,
        change: &mut Change,
    ) -> Result<(), FrontierError> {
        match change {
            Change::Done(done) => {
                self.drop_traps(disk, done)?;
                self.bring_forward(disk, done)?;
                let target = done.target.take_if(|url| !self.hosts.has_host_of(url));
                // The chain may lead over several agents, so the count travels with the URL.
                let redirects = done.redirects.saturating_add(1);
                if redirects <= MAX_REDIRECTS {
                    done.reports.extend(target.and_then(|url| self.report(&url, redirects)));
                }
                self.move_foreign(&mut done.links, &mut done.reports);
            }
            Change::Robots { sitemaps, reports, .. } => self.move_foreign(sitemaps, reports),
            _ => {}
        }
        Ok(())
    }

    /// Finds the pages that changed since their last visits by the word of their sitemap. Their
    /// places are logged instead of the many times of a sitemap.
    fn bring_forward(&mut self, disk: &Disk, done: &mut Done) -> Result<(), FrontierError> {
        if let Some(stated) = &done.stated
            && let Some(host) = self.hosts.get(disk, done.host)?
        {
            done.brought_forward = host.changed_pages(disk, stated)?;
        }
        Ok(())
    }

    /// Drops links that lead into the endless parts of a site.
    fn drop_traps(&mut self, disk: &Disk, done: &mut Done) -> Result<(), FrontierError> {
        if done.are_listed {
            return Ok(());
        }
        let now = done.fetched_at;
        done.links.retain(|url| !is_far_calendar(url.path_and_query(), now));
        for url in std::mem::take(&mut done.links) {
            // A link that is on many pages counts once.
            let is_counted = filter_of(url.path_and_query()).is_some()
                && !self.is_known_or_reported(disk, &url)?;
            if !is_counted || self.filters.admit(&url) {
                done.links.push(url);
            }
        }
        Ok(())
    }

    /// Whether a link was queued or reported before.
    fn is_known_or_reported(&mut self, disk: &Disk, url: &CrawlUrl) -> Result<bool, FrontierError> {
        if self.hosts.has_host_of(url) {
            return self.is_known(disk, url);
        }
        Ok(self.reported.contains(&short(url.fingerprint())))
    }

    fn move_foreign(&mut self, urls: &mut Vec<CrawlUrl>, reports: &mut Vec<Report>) {
        let foreign: Vec<CrawlUrl> =
            urls.extract_if(.., |url| !self.hosts.has_host_of(url)).collect();
        reports.extend(foreign.iter().filter_map(|url| self.report(url, 0)));
    }

    /// The report of a URL; none where it was reported not long ago.
    fn report(&mut self, url: &CrawlUrl, redirects: u8) -> Option<Report> {
        let is_new = self.reported.insert(short(url.fingerprint()));
        is_new.then(|| Report { url: url.as_str().into(), redirects })
    }

    /// State of a host; none when it is not the agent's.
    pub(super) fn snapshot(
        &mut self,
        disk: &Disk,
        number: HostNumber,
    ) -> Result<Option<HostSnapshot>, FrontierError> {
        let Some(host) = self.hosts.get(disk, number)? else { return Ok(None) };
        let next = host.next(disk)?;
        let next_page = if next.is_none() { host.next_page(disk)? } else { None };
        let record = host.record.clone();
        let robots = host.robots();
        Ok(Some(HostSnapshot { record, robots, next, next_page }))
    }

    /// Whether a URL of a host of the agent was ever queued.
    pub(super) fn is_known(&mut self, disk: &Disk, url: &CrawlUrl) -> Result<bool, FrontierError> {
        let Some(number) = self.hosts.number(url.host_key_str()) else { return Ok(false) };
        let Some(host) = self.hosts.get(disk, number)? else { return Ok(false) };
        host.is_known(disk, url)
    }

    /// The agent's hosts.
    pub(super) fn hosts(&mut self) -> &mut Hosts {
        &mut self.hosts
    }

    /// The oldest results with their numbers: at least one if there is any, up to `bytes`, and at
    /// most `most`.
    pub(super) fn oldest_results(&self, bytes: u64, most: usize) -> Vec<(u64, Arc<[u8]>)> {
        let mut size = 0;
        let fits = |(number, result): &(usize, (&u64, &StoredResult))| {
            size += result.1.bytes.len() as u64;
            *number == 0 || size <= bytes
        };
        let results = self.results.iter().take(most).enumerate().take_while(fits);
        results.map(|(_, (order, result))| (*order, Arc::clone(&result.bytes))).collect()
    }

    /// Number of the last result; 0 when there is none.
    pub(super) fn last_result(&self) -> u64 {
        self.results.last_key_value().map_or(0, |(order, _)| *order)
    }

    /// Bytes of the results that are not packed.
    pub(super) fn result_bytes(&self) -> usize {
        self.result_bytes
    }

    pub(super) fn counts(&self) -> Counts {
        Counts {
            hosts: self.hosts.len() as u64,
            queued: self.hosts.queued,
            fetched: self.totals.fetched,
            wire_bytes: self.totals.wire_bytes,
            results: self.results.len() as u64,
            packages: self.totals.packages.len() as u64,
            routes_after: self.totals.routes_after,
        }
    }

    /// Takes what a checkpoint writes: all changes before the segment of the log with this number.
    pub(super) fn checkpoint(
        &mut self,
        disk: &Disk,
        segment: u64,
    ) -> Result<Checkpoint, FrontierError> {
        self.totals.segment = segment;
        self.totals.queued = self.hosts.queued;
        let results = self.results.iter_mut().filter(|(_, result)| !result.is_on_disk);
        let results = results.map(|(order, result)| {
            result.is_on_disk = true;
            (*order, Arc::clone(&result.bytes))
        });
        Ok(Checkpoint {
            results: results.collect(),
            totals: self.totals.clone(),
            released: self.hosts.released(),
            hosts: self.hosts.changes(disk)?,
            inbox: self.hosts.inbox_changes(),
            numbers: self.hosts.number_changes(),
            packed: std::mem::take(&mut self.packed),
        })
    }

    /// The last checkpoint is complete.
    pub(super) fn committed(&mut self) {
        self.hosts.committed();
    }

    fn insert_result(&mut self, order: u64, bytes: &[u8], is_on_disk: bool) {
        self.result_bytes += bytes.len();
        self.results.insert(order, StoredResult { bytes: bytes.into(), is_on_disk });
    }

    fn next_order(&mut self) -> u64 {
        let order = self.totals.next_order;
        self.totals.next_order += 1;
        order
    }

    /// The largest number that was given so far.
    fn last_order(&self) -> u64 {
        self.totals.next_order - 1
    }
}

/// The first bits of a fingerprint.
pub(super) fn short(fingerprint: Fingerprint) -> SeenUrl {
    let (first, _) = fingerprint.as_chunks::<8>();
    first.first().map_or(0, |bytes| shortened(u64::from_le_bytes(*bytes)))
}
