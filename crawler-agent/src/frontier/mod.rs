//! The frontier: URLs seen, URLs to be fetched from each host, and results to be shipped.
//!
//! It has two halves. The durable one ([`Frontier`]) is a redb file: queues per host in
//! breadth-first order, fingerprints of every URL ever seen, hosts with their robots.txt, results
//! and packages. It is altered by [`Change`]s only, each of which is applied wholly or not at all,
//! so that kill -9 loses nothing but the running requests. The other half ([`Workbench`]) lives in
//! memory: when each host is due, and which hosts and addresses are busy. It holds one small entry
//! for each host that has work, and nothing for all others.
//!
//! Tasks share the file through a [`FrontierHandle`], which writes many changes in one transaction.

mod apply;
mod change;
mod error;
mod handle;
mod pages;
mod release;
mod tables;
mod transaction;
mod waiting;
mod workbench;

use std::path::Path;

use model::{CrawlUrl, UnixMillis};
use protocol::page::Entry;
use redb::{
    Database, ReadTransaction, ReadableDatabase as _, ReadableTable as _,
    ReadableTableMetadata as _,
};
use serde::{Deserialize, Serialize};

use crate::robots::Robots;
use tables::{HOST_NUMBERS, HOSTS, META, PACKAGES, PAGES, QUEUE, RESULTS, ROBOTS};

pub use change::{Bounds, Change, Done, Effect};
pub use error::FrontierError;
pub use handle::FrontierHandle;
pub use pages::{Known, PageRecord, Past};
pub use waiting::Pace;
pub use workbench::Workbench;

/// Most memory of the file's page cache, in bytes.
const CACHE_BYTES: usize = 12 << 20;

/// Number by which this frontier knows a host of the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostNumber(pub u64);

/// Stored state of a host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostRecord {
    /// Scheme and authority, as in `http://a.example:8080`.
    pub key: String,
    /// Earliest time of the next request.
    pub due: UnixMillis,
    /// Number of URLs that were ever queued.
    pub accepted: u32,
    /// Failures in a row.
    pub failures: u32,
    /// How often the host was released before; part of its fingerprints.
    #[serde(default)]
    pub tenure: u64,
}

/// Stored state of a host's robots.txt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RobotsState {
    /// It redirects to another URL.
    Moved {
        /// URL of the next request.
        url: String,
        /// Redirects so far.
        hops: u8,
    },
    /// Its rules are known.
    Known {
        /// Rules of the crawler's group.
        robots: Robots,
        /// When they expire.
        until: UnixMillis,
    },
}

impl RobotsState {
    /// Crawl-delay of known rules, in milliseconds.
    pub fn delay_ms(&self) -> Option<u32> {
        match self {
            Self::Known { robots, .. } => robots.delay_ms(),
            Self::Moved { .. } => None,
        }
    }
}

/// A host with URLs or pages that are to be fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostWithWork {
    /// Number of the host.
    pub host: HostNumber,
    /// Earliest time of the next request.
    pub due: UnixMillis,
    /// Crawl-delay, in milliseconds.
    pub crawl_delay_ms: Option<u32>,
}

/// A URL that is to be fetched, from the queue or for a revisit.
#[derive(Debug, Clone, PartialEq)]
pub struct Queued {
    /// Host of the URL.
    pub host: HostNumber,
    /// Number of links from a routed URL to this one.
    pub depth: u16,
    /// Position among the URLs of the same depth; for a page, part of its key.
    pub order: u64,
    /// URL in its normalised form.
    pub url: CrawlUrl,
    /// Number of redirects that led to it.
    pub redirects: u8,
    /// Number of attempts that failed.
    pub attempts: u8,
    /// Record of the last visit; none for a URL of the queue.
    pub known: Option<Box<Known>>,
}

/// State of a host from which its next request is decided.
#[derive(Debug, Clone, PartialEq)]
pub struct HostSnapshot {
    /// State of the host itself.
    pub record: HostRecord,
    /// Its robots.txt; none when it was never requested.
    pub robots: Option<RobotsState>,
    /// First URL of the queue.
    pub next: Option<Queued>,
    /// Where the queue is empty, the page whose last visit is the oldest.
    pub oldest: Option<Queued>,
}

/// Sizes of the tables, and counters since the frontier was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Hosts of the agent.
    pub hosts: u64,
    /// URLs in queues.
    pub queued: u64,
    /// Fetches that ended, whatever their outcome.
    pub fetched: u64,
    /// Bytes of bodies received on the wire.
    pub wire_bytes: u64,
    /// Results that are not packed yet.
    pub results: u64,
    /// Packages that are not acknowledged yet.
    pub packages: u64,
    /// Number of the last route that is stored.
    pub routes_after: u64,
}

/// The durable half of the frontier, in one redb file.
pub struct Frontier {
    db: Database,
    epoch: u64,
}

impl Frontier {
    /// Opens the file `path`; makes it, with `new_epoch` as its epoch, where it does not exist.
    pub fn open(path: &Path, new_epoch: u64) -> Result<Self, FrontierError> {
        let opened = Database::builder().set_cache_size(CACHE_BYTES).create(path);
        let db = opened.map_err(|e| FrontierError::open(path, e))?;
        let epoch = tables::create(&db, new_epoch)?;
        Ok(Self { db, epoch })
    }

    /// Epoch of this file in package names. Another epoch tells the coordinator that the agent lost
    /// its disk and numbers packages from 1 again.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// State of a host; none when the host is not the agent's.
    pub fn snapshot(&self, host: HostNumber) -> Result<Option<HostSnapshot>, FrontierError> {
        let read = self.db.begin_read()?;
        let Some(record) = read.open_table(HOSTS)?.get(host.0)? else { return Ok(None) };
        let robots = match read.open_table(ROBOTS)?.get(host.0)? {
            Some(json) => Some(serde_json::from_slice(json.value())?),
            None => None,
        };
        let record = serde_json::from_slice(record.value())?;
        let next = next(&read, host)?;
        let oldest =
            if next.is_none() { pages::oldest(&read.open_table(PAGES)?, host)? } else { None };
        Ok(Some(HostSnapshot { record, robots, next, oldest }))
    }

    /// Number of the host with this scheme and authority; none when it is not the agent's.
    pub fn host_number(&self, key: &str) -> Result<Option<HostNumber>, FrontierError> {
        let read = self.db.begin_read()?;
        let number = read.open_table(HOST_NUMBERS)?.get(key)?;
        Ok(number.map(|n| HostNumber(n.value())))
    }

    /// All hosts with URLs in their queues.
    pub fn hosts_with_work(&self) -> Result<Vec<HostWithWork>, FrontierError> {
        let read = self.db.begin_read()?;
        let queue = read.open_table(QUEUE)?;
        let hosts = read.open_table(HOSTS)?;
        let robots = read.open_table(ROBOTS)?;
        let mut found = Vec::new();
        let mut from = (0, 0, 0);
        // One lookup per host: from its first URL straight to the next host.
        while let Some(entry) = queue.range(from..)?.next() {
            let (host, _, _) = entry?.0.value();
            let crawl_delay_ms = match robots.get(host)? {
                Some(json) => serde_json::from_slice::<RobotsState>(json.value())?.delay_ms(),
                None => None,
            };
            if let Some(json) = hosts.get(host)? {
                let record: HostRecord = serde_json::from_slice(json.value())?;
                found.push(HostWithWork {
                    host: HostNumber(host),
                    due: record.due,
                    crawl_delay_ms,
                });
            }
            from = (host + 1, 0, 0);
        }
        Ok(found)
    }

    /// The oldest results with their numbers: at least one if there is any, up to about `bytes` of
    /// JSON.
    pub fn oldest_results(&self, bytes: u64) -> Result<Vec<(u64, Entry)>, FrontierError> {
        let read = self.db.begin_read()?;
        let mut results = Vec::new();
        let mut size = 0;
        for entry in read.open_table(RESULTS)?.iter()? {
            let (order, json) = entry?;
            size += json.value().len() as u64;
            if size > bytes && !results.is_empty() || results.len() >= MAX_ENTRIES {
                break;
            }
            results.push((order.value(), serde_json::from_slice(json.value())?));
        }
        Ok(results)
    }

    /// Numbers of the packages that are not acknowledged.
    pub fn packages(&self) -> Result<Vec<u64>, FrontierError> {
        let read = self.db.begin_read()?;
        let packages = read.open_table(PACKAGES)?;
        packages.iter()?.map(|entry| Ok(entry?.0.value())).collect()
    }

    /// Number of the next package.
    pub fn next_package(&self) -> Result<u64, FrontierError> {
        Ok(self
            .db
            .begin_read()?
            .open_table(META)?
            .get(tables::NEXT_PACKAGE)?
            .map_or(1, |n| n.value()))
    }

    /// Counts for status and heartbeat.
    pub fn counts(&self) -> Result<Counts, FrontierError> {
        let read = self.db.begin_read()?;
        let meta = read.open_table(META)?;
        let number = |key: &str| -> Result<u64, FrontierError> {
            Ok(meta.get(key)?.map_or(0, |n| n.value()))
        };
        Ok(Counts {
            hosts: read.open_table(HOSTS)?.len()?,
            queued: read.open_table(QUEUE)?.len()?,
            fetched: number(tables::FETCHED)?,
            wire_bytes: number(tables::WIRE_BYTES)?,
            results: read.open_table(RESULTS)?.len()?,
            packages: read.open_table(PACKAGES)?.len()?,
            routes_after: number(tables::ROUTES_AFTER)?,
        })
    }
}

/// Most entries of one package, far below the bound of the protocol.
const MAX_ENTRIES: usize = 20_000;

fn next(read: &ReadTransaction, host: HostNumber) -> Result<Option<Queued>, FrontierError> {
    let queue = read.open_table(QUEUE)?;
    for entry in queue.range((host.0, 0, 0)..(host.0 + 1, 0, 0))? {
        let (key, value) = entry?;
        let (_, depth, order) = key.value();
        let (url, redirects, attempts) = value.value();
        // Only URLs that parse were queued; another would be a damaged file, and is skipped.
        if let Ok(url) = CrawlUrl::parse(url) {
            return Ok(Some(Queued { host, depth, order, url, redirects, attempts, known: None }));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests;
