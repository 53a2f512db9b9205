//! What has been seen, what is to be fetched next from each host, and what waits to be shipped.
//!
//! Two halves. The durable one ([`Frontier`]) is a redb file: queues per host in breadth-first
//! order, fingerprints of every URL ever seen, hosts with their robots.txt, results and packages.
//! It changes by [`Change`]s only, each of which happens wholly or not at all, so that kill -9 at
//! any moment loses nothing but the requests in flight. The other half ([`Workbench`]) lives in
//! memory: which host is due when, which hosts and addresses are busy. It holds one small entry for
//! each host that has work, and nothing for all others.
//!
//! [`FrontierHandle`] writes for everybody, many changes in one transaction.

mod apply;
mod change;
mod error;
mod handle;
mod pages;
mod release;
mod tables;
mod transaction;
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
pub use workbench::Workbench;

/// Memory that the file's page cache may take, in bytes.
const CACHE_BYTES: usize = 12 << 20;

/// A host of ours, by the number that this frontier gave it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostNumber(pub u64);

/// What is known of a host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostRecord {
    /// Scheme and authority.
    pub key: String,
    /// No request before this moment.
    pub due: UnixMillis,
    /// URLs of the host that were ever taken into the queue.
    pub accepted: u32,
    /// Failures since the last success.
    pub failures: u32,
    /// How often the host was ours before.
    #[serde(default)]
    pub tenure: u64,
}

/// What is known of a host's robots.txt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RobotsState {
    /// It said that it is elsewhere.
    Moved {
        /// Where it is to be asked for next.
        url: String,
        /// Redirects so far.
        hops: u8,
    },
    /// Its rules.
    Known {
        /// The rules for us.
        robots: Robots,
        /// When they are to be asked for again.
        until: UnixMillis,
    },
}

impl RobotsState {
    /// Crawl-delay, in milliseconds.
    pub fn delay_ms(&self) -> Option<u32> {
        match self {
            Self::Known { robots, .. } => robots.delay_ms(),
            Self::Moved { .. } => None,
        }
    }
}

/// A host that has something to fetch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostWithWork {
    /// The host.
    pub host: HostNumber,
    /// No request before this moment.
    pub due: UnixMillis,
    /// Its Crawl-delay, in milliseconds.
    pub crawl_delay_ms: Option<u32>,
}

/// A URL that waits to be fetched.
#[derive(Debug, Clone, PartialEq)]
pub struct Queued {
    /// Whose it is.
    pub host: HostNumber,
    /// Links between a routed URL and this one.
    pub depth: u16,
    /// Position among the URLs of the same depth.
    pub order: u64,
    /// The URL.
    pub url: CrawlUrl,
    /// Redirects on the way to it.
    pub redirects: u8,
    /// Attempts that failed.
    pub attempts: u8,
    /// What is known from the last visit; none for a URL that was never fetched.
    pub known: Option<Box<Known>>,
}

/// All that is needed to decide a host's next request.
#[derive(Debug, Clone, PartialEq)]
pub struct HostSnapshot {
    /// The host.
    pub record: HostRecord,
    /// Its robots.txt; none when it was never asked for.
    pub robots: Option<RobotsState>,
    /// The next URL; none when there is nothing to do.
    pub next: Option<Queued>,
    /// When there is no next URL, the page that was visited the longest time ago.
    pub oldest: Option<Queued>,
}

/// Results that wait to be packed, oldest first.
#[derive(Debug, Clone, PartialEq)]
pub struct Batch {
    /// The results with their numbers.
    pub entries: Vec<(u64, Entry)>,
}

/// Numbers that survive restarts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Hosts of ours.
    pub hosts: u64,
    /// URLs that wait.
    pub queued: u64,
    /// Fetches that ended, whatever their outcome.
    pub fetched: u64,
    /// Bytes of bodies on the wire.
    pub wire_bytes: u64,
    /// Results that wait to be packed.
    pub results: u64,
    /// Packages that wait to be acknowledged.
    pub packages: u64,
    /// Every route up to this one is stored.
    pub routes_after: u64,
}

/// The durable half.
pub struct Frontier {
    db: Database,
    epoch: u64,
}

impl Frontier {
    /// Opens the frontier in the file `path`, or makes it; `new_epoch` names it if it is made.
    pub fn open(path: &Path, new_epoch: u64) -> Result<Self, FrontierError> {
        let opened = Database::builder().set_cache_size(CACHE_BYTES).create(path);
        let db = opened.map_err(|e| FrontierError::open(path, e))?;
        let epoch = tables::create(&db, new_epoch)?;
        Ok(Self { db, epoch })
    }

    /// Names this store in packages; drawn anew when an agent lost its disk.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// What a host's next request shall be.
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

    /// The number of the host with this scheme and authority, when it is one of ours.
    pub fn host_number(&self, key: &str) -> Result<Option<HostNumber>, FrontierError> {
        let read = self.db.begin_read()?;
        let number = read.open_table(HOST_NUMBERS)?.get(key)?;
        Ok(number.map(|n| HostNumber(n.value())))
    }

    /// Every host that has something to fetch.
    pub fn hosts_with_work(&self) -> Result<Vec<HostWithWork>, FrontierError> {
        let read = self.db.begin_read()?;
        let (queue, hosts, robots) =
            (read.open_table(QUEUE)?, read.open_table(HOSTS)?, read.open_table(ROBOTS)?);
        let mut found = Vec::new();
        let mut from = (0, 0, 0);
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

    /// The oldest results, at least one if there is any, up to about `bytes` of JSON.
    pub fn batch(&self, bytes: u64) -> Result<Batch, FrontierError> {
        let read = self.db.begin_read()?;
        let mut batch = Batch { entries: Vec::new() };
        let mut size = 0;
        for entry in read.open_table(RESULTS)?.iter()? {
            let (order, json) = entry?;
            size += json.value().len() as u64;
            if size > bytes && !batch.entries.is_empty() || batch.entries.len() >= MOST_ENTRIES {
                break;
            }
            batch.entries.push((order.value(), serde_json::from_slice(json.value())?));
        }
        Ok(batch)
    }

    /// Packages that are not acknowledged, by number.
    pub fn packages(&self) -> Result<Vec<u64>, FrontierError> {
        let read = self.db.begin_read()?;
        let packages = read.open_table(PACKAGES)?;
        packages.iter()?.map(|entry| Ok(entry?.0.value())).collect()
    }

    /// The number that the next package shall have.
    pub fn next_package(&self) -> Result<u64, FrontierError> {
        Ok(self
            .db
            .begin_read()?
            .open_table(META)?
            .get(tables::NEXT_PACKAGE)?
            .map_or(1, |n| n.value()))
    }

    /// How much there is of everything.
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

/// Most entries of one package; far below the protocol's bound.
const MOST_ENTRIES: usize = 20_000;

fn next(read: &ReadTransaction, host: HostNumber) -> Result<Option<Queued>, FrontierError> {
    let queue = read.open_table(QUEUE)?;
    for entry in queue.range((host.0, 0, 0)..(host.0 + 1, 0, 0))? {
        let (key, value) = entry?;
        let ((_, depth, order), (url, redirects, attempts)) = (key.value(), value.value());
        // Only URLs that parse are ever queued.
        if let Ok(url) = CrawlUrl::parse(url) {
            return Ok(Some(Queued { host, depth, order, url, redirects, attempts, known: None }));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests;
