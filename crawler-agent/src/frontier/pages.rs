//! Pages that were fetched, to be visited again: the one visited the longest time ago comes first.

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

/// What is kept of a page; a few hundred bytes, however often it was fetched.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PageRecord {
    /// The URL.
    pub url: String,
    /// Links between a routed URL and this one.
    pub depth: u16,
    /// The ETag header of the last answer with content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub etag: Option<String>,
    /// The Last-Modified header of the last answer with content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_modified: Option<String>,
    /// SHA-256 of the decoded body, hexadecimal; none when there was no document to index.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// How long its answers take.
    #[serde(flatten)]
    pub past: Past,
}

/// How long a page's answers take: those with content, and those of a head alone, which say that
/// nothing has changed. The paper compares "every HTTP/HEAD command" (IPMicra III.F); a conditional
/// GET asks both questions at once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Past {
    /// Answers with content.
    #[serde(default)]
    pub get: Baseline,
    /// Answers of a head alone.
    #[serde(default)]
    pub head: Baseline,
}

/// A page and when it was visited last.
#[derive(Debug, Clone, PartialEq)]
pub struct Known {
    /// When.
    pub visited: UnixMillis,
    /// What is kept of it.
    pub record: PageRecord,
}

type PageTable<'t> = (u64, i64, u64);

fn of_host(host: HostNumber) -> std::ops::Range<PageTable<'static>> {
    (host.0, i64::MIN, 0)..(host.0 + 1, i64::MIN, 0)
}

/// The page of a host that was visited the longest time ago.
pub(super) fn oldest(
    pages: &impl ReadableTable<(u64, i64, u64), &'static [u8]>,
    host: HostNumber,
) -> Result<Option<Queued>, FrontierError> {
    for entry in pages.range(of_host(host))? {
        let (key, json) = entry?;
        let (_, visited, order) = key.value();
        let record: PageRecord = serde_json::from_slice(json.value())?;
        // Only URLs that parse were ever fetched.
        if let Ok(url) = CrawlUrl::parse(&record.url) {
            let (depth, known) =
                (record.depth, Box::new(Known { visited: UnixMillis(visited), record }));
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
    /// When the page of a host was visited that was visited the longest time ago.
    pub(super) fn oldest_visit(
        &self,
        host: HostNumber,
    ) -> Result<Option<UnixMillis>, FrontierError> {
        let first = self.pages.range(of_host(host))?.next();
        Ok(first.transpose()?.map(|(key, _)| UnixMillis(key.value().1)))
    }

    /// Takes out what was known of a page, before it is put in anew. Says whether its past was
    /// forgotten while it was being visited.
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

    /// Puts a page in that was visited at `at`.
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

    /// Forgets how fast a host's pages used to be.
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

    /// Takes up to `most` pages of a host out.
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
    /// Hosts with nothing new to fetch whose pages are to be visited again `period_ms` after the
    /// last visit; with the moment from which they may be asked, and the moment from which there is
    /// something to ask for.
    pub fn hosts_to_revisit(
        &self,
        period_ms: i64,
    ) -> Result<Vec<(HostWithWork, UnixMillis)>, FrontierError> {
        let read = self.db.begin_read()?;
        let (pages, queue) = (read.open_table(PAGES)?, read.open_table(QUEUE)?);
        let (hosts, robots) = (read.open_table(HOSTS)?, read.open_table(ROBOTS)?);
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
