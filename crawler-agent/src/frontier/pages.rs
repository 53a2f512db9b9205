//! Pages that are visited again, the one with the oldest last visit first.

use delegation::calibration::Baseline;
use model::{CrawlUrl, UnixMillis};
use redb::ReadableTable;
use serde::{Deserialize, Serialize};

use super::{
    Frontier, FrontierError, HostNumber, HostRecord, HostWithWork, Queued, RobotsState,
    tables::{HOSTS, PAGES, QUEUE, ROBOTS},
    transaction::Transaction,
};
use redb::ReadableDatabase as _;

/// Stored record of a page: a few hundred bytes, however often it was fetched.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PageRecord {
    /// URL in its normalised form.
    pub url: String,
    /// Number of links from a routed URL to this one.
    pub depth: u16,
    /// ETag header of the last answer with content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub etag: Option<String>,
    /// Last-Modified header of the last answer with content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_modified: Option<String>,
    /// SHA-256 of the decoded body, hexadecimal; none when there was no document to index.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// Response times so far.
    #[serde(flatten)]
    pub past: Past,
}

/// Response times of a page, for answers with content and answers without. The paper compares the
/// times of HTTP HEAD commands (IPMicra section III.F); here a conditional GET that is answered
/// with 304 takes their place.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Past {
    /// Baseline of answers with content.
    #[serde(default)]
    pub get: Baseline,
    /// Baseline of 304 answers.
    #[serde(default)]
    pub head: Baseline,
}

/// A page with the time of its last visit.
#[derive(Debug, Clone, PartialEq)]
pub struct Known {
    /// Time of the last visit.
    pub visited: UnixMillis,
    /// Record of that visit.
    pub record: PageRecord,
}

type PageTable<'t> = (u64, i64, u64);

fn of_host(host: HostNumber) -> std::ops::Range<PageTable<'static>> {
    (host.0, i64::MIN, 0)..(host.0 + 1, i64::MIN, 0)
}

/// The page of a host with the oldest last visit.
pub(super) fn oldest(
    pages: &impl ReadableTable<(u64, i64, u64), &'static [u8]>,
    host: HostNumber,
) -> Result<Option<Queued>, FrontierError> {
    for entry in pages.range(of_host(host))? {
        let (key, json) = entry?;
        let (_, visited, order) = key.value();
        let record: PageRecord = serde_json::from_slice(json.value())?;
        // Only URLs that parse were fetched; another would be a damaged file, and is skipped.
        if let Ok(url) = CrawlUrl::parse(&record.url) {
            let depth = record.depth;
            let known = Box::new(Known { visited: UnixMillis(visited), record });
            return Ok(Some(Queued {
                host,
                depth,
                order,
                url,
                redirects: 0,
                attempts: 0,
                known: Some(known),
            }));
        }
    }
    Ok(None)
}

impl Transaction<'_> {
    /// Time of the oldest last visit among the pages of a host.
    pub(super) fn oldest_visit(
        &self,
        host: HostNumber,
    ) -> Result<Option<UnixMillis>, FrontierError> {
        let first = self.pages.range(of_host(host))?.next();
        Ok(first.transpose()?.map(|(key, _)| UnixMillis(key.value().1)))
    }

    /// Removes the record of a page before a new one is stored. Returns whether its response times
    /// were reset while it was being visited.
    pub(super) fn forget_page(
        &mut self,
        item: &Queued,
        known: &Known,
    ) -> Result<bool, FrontierError> {
        let key = (item.host.0, known.visited.0, item.order);
        let Some(json) = self.pages.remove(key)?.map(|json| json.value().to_vec()) else {
            return Ok(false);
        };
        Ok(serde_json::from_slice::<PageRecord>(&json)?.past != known.record.past)
    }

    /// Stores the record of a page that was visited at `at`.
    pub(super) fn keep_page(
        &mut self,
        item: &Queued,
        at: UnixMillis,
        record: &PageRecord,
    ) -> Result<(), FrontierError> {
        let json = serde_json::to_vec(record)?;
        self.pages.insert((item.host.0, at.0, item.order), json.as_slice())?;
        Ok(())
    }

    /// Resets the response times of all pages of a host.
    pub(super) fn settle(&mut self, host: HostNumber) -> Result<(), FrontierError> {
        let keys: Vec<_> = self
            .pages
            .range(of_host(host))?
            .map(|e| e.map(|(key, _)| key.value()))
            .collect::<Result<_, _>>()?;
        for key in keys {
            let Some(json) = self.pages.get(key)?.map(|json| json.value().to_vec()) else {
                continue;
            };
            let mut record: PageRecord = serde_json::from_slice(&json)?;
            record.past = Past::default();
            self.pages.insert(key, serde_json::to_vec(&record)?.as_slice())?;
        }
        Ok(())
    }

    /// Removes up to `most` pages of a host and returns their URLs.
    pub(super) fn drain_pages(
        &mut self,
        host: HostNumber,
        most: usize,
    ) -> Result<Vec<String>, FrontierError> {
        let mut drained = Vec::new();
        for entry in self.pages.range(of_host(host))?.take(most) {
            let (key, json) = entry?;
            let record: PageRecord = serde_json::from_slice(json.value())?;
            drained.push((key.value(), record.url));
        }
        for (key, _) in &drained {
            self.pages.remove(*key)?;
        }
        Ok(drained.into_iter().map(|(_, url)| url).collect())
    }
}

impl Frontier {
    /// Hosts with an empty queue and with pages that are visited again `period_ms` after their last
    /// visit; with the time at which the first of them is due.
    pub fn hosts_to_revisit(
        &self,
        period_ms: i64,
    ) -> Result<Vec<(HostWithWork, UnixMillis)>, FrontierError> {
        let read = self.db.begin_read()?;
        let pages = read.open_table(PAGES)?;
        let queue = read.open_table(QUEUE)?;
        let hosts = read.open_table(HOSTS)?;
        let robots = read.open_table(ROBOTS)?;
        let mut found = Vec::new();
        let mut from = (0, i64::MIN, 0);
        while let Some(entry) = pages.range(from..)?.next() {
            let (host, visited, _) = entry?.0.value();
            from = (host + 1, i64::MIN, 0);
            let has_new = queue.range((host, 0, 0)..(host + 1, 0, 0))?.next().is_some();
            let Some(json) = hosts.get(host)?.filter(|_| !has_new) else { continue };
            let record: HostRecord = serde_json::from_slice(json.value())?;
            let crawl_delay_ms = match robots.get(host)? {
                Some(json) => serde_json::from_slice::<RobotsState>(json.value())?.delay_ms(),
                None => None,
            };
            let work = HostWithWork { host: HostNumber(host), due: record.due, crawl_delay_ms };
            found.push((work, UnixMillis(visited).plus_ms(period_ms)));
        }
        Ok(found)
    }
}
