//! The content of a bundle: the host, and its URLs by columns.

use delegation::calibration::{Baseline, CompactBaseline, VALUES};
use model::{CrawlUrl, UnixMillis};
use protocol::bounded::at_most;
use serde::{Deserialize, Serialize};

use super::{BundleError, HostBundle, MAX_URLS, is_path_of, planes};
use crate::{
    fetch::Validators,
    frontier::{ChangeRate, HostRecord, PageHistory, PageRecord, QueuedUrl},
};

/// Bytes of the hash of a page.
const HASH: usize = 32;
/// Bytes of the hash of a text.
const TEXT_HASH: usize = 8;

/// Content of a bundle.
#[derive(Serialize, Deserialize)]
pub(super) struct Columns {
    record: HostRecord,
    queue: QueueColumns,
    pages: PageColumns,
    /// Fingerprints, 8 bytes each, little-endian.
    #[serde(with = "serde_bytes")]
    seen: Vec<u8>,
}

/// URLs of the queue, in its order.
#[derive(Default, Serialize, Deserialize)]
struct QueueColumns {
    #[serde(deserialize_with = "at_most::<MAX_URLS, _, _>")]
    paths: Vec<String>,
    #[serde(deserialize_with = "at_most::<MAX_URLS, _, _>")]
    depths: Vec<u16>,
    #[serde(deserialize_with = "at_most::<MAX_URLS, _, _>")]
    redirects: Vec<u8>,
    #[serde(deserialize_with = "at_most::<MAX_URLS, _, _>")]
    attempts: Vec<u8>,
}

/// Pages, in the order in which they are visited again.
#[derive(Default, Serialize, Deserialize)]
struct PageColumns {
    #[serde(deserialize_with = "at_most::<MAX_URLS, _, _>")]
    paths: Vec<String>,
    #[serde(deserialize_with = "at_most::<MAX_URLS, _, _>")]
    depths: Vec<u16>,
    /// Time of each visit, in milliseconds since the visit before it; since 1970 for the first.
    #[serde(deserialize_with = "at_most::<MAX_URLS, _, _>")]
    visits: Vec<i64>,
    #[serde(deserialize_with = "at_most::<MAX_URLS, _, _>")]
    etags: Vec<Option<String>>,
    #[serde(deserialize_with = "at_most::<MAX_URLS, _, _>")]
    last_modified: Vec<Option<String>>,
    #[serde(deserialize_with = "at_most::<MAX_URLS, _, _>")]
    has_hash: Vec<bool>,
    /// Hashes of the pages that have one, 32 bytes each.
    #[serde(with = "serde_bytes")]
    hashes: Vec<u8>,
    get: TimeColumns,
    head: TimeColumns,
    changes: ChangeColumns,
}

/// How often pages change.
#[derive(Default, Serialize, Deserialize)]
struct ChangeColumns {
    #[serde(deserialize_with = "at_most::<MAX_URLS, _, _>")]
    has_text: Vec<bool>,
    /// Hashes of the texts of the pages that have one, 8 bytes each.
    #[serde(with = "serde_bytes")]
    text_hashes: Vec<u8>,
    #[serde(deserialize_with = "at_most::<MAX_URLS, _, _>")]
    intervals_s: Vec<Option<u32>>,
    #[serde(deserialize_with = "at_most::<MAX_URLS, _, _>")]
    advances_s: Vec<u32>,
}

/// Baselines; those of pages without timings have zeros here and no values.
#[derive(Default, Serialize, Deserialize)]
struct TimeColumns {
    #[serde(deserialize_with = "at_most::<MAX_URLS, _, _>")]
    timings: Vec<u32>,
    #[serde(deserialize_with = "at_most::<MAX_URLS, _, _>")]
    slow_in_a_row: Vec<u32>,
    /// One column of [`planes`] for each value of [`CompactBaseline`].
    values: [Planes; VALUES],
}

/// A column of numbers.
#[derive(Default, Serialize, Deserialize)]
struct Planes(#[serde(with = "serde_bytes")] Vec<u8>);

impl Columns {
    pub(super) fn of_bundle(bundle: &HostBundle) -> Self {
        Self {
            record: bundle.record.clone(),
            queue: QueueColumns::of_urls(&bundle.queue),
            pages: PageColumns::of_pages(&bundle.pages),
            seen: bundle.seen.iter().flat_map(|url| url.to_le_bytes()).collect(),
        }
    }

    pub(super) fn into_bundle(self) -> Result<HostBundle, BundleError> {
        let Self { record, queue, pages, seen } = self;
        if queue.paths.len() + pages.paths.len() + seen.len() / 8 > MAX_URLS {
            return Err(BundleError::TooManyUrls);
        }
        let is_host =
            CrawlUrl::parse(&record.key).is_ok_and(|url| url.host_key_str() == record.key);
        if !is_host {
            return Err(BundleError::Host(record.key));
        }
        let (seen, []) = seen.as_chunks::<8>() else {
            return Err(BundleError::Columns("fingerprints"));
        };
        Ok(HostBundle {
            queue: queue.into_urls(&record.key)?,
            pages: pages.into_pages(&record.key)?,
            seen: seen.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect(),
            record,
        })
    }
}

impl QueueColumns {
    fn of_urls(urls: &[QueuedUrl]) -> Self {
        let mut columns = Self::default();
        for url in urls {
            columns.paths.push(url.path.to_string());
            columns.depths.push(url.depth);
            columns.redirects.push(url.redirects);
            columns.attempts.push(url.attempts);
        }
        columns
    }

    /// The URLs, without those that are none of this host.
    fn into_urls(self, host: &str) -> Result<Vec<QueuedUrl>, BundleError> {
        let Self { paths, depths, redirects, attempts } = self;
        let count = paths.len();
        if [depths.len(), redirects.len(), attempts.len()] != [count; 3] {
            return Err(BundleError::Columns("URLs of the queue"));
        }
        let rest = depths.into_iter().zip(redirects).zip(attempts);
        let url = |(path, ((depth, redirects), attempts)): (String, ((u16, u8), u8))| {
            is_path_of(host, &path).then(|| {
                let path = path.into();
                QueuedUrl { path, depth, redirects, attempts }
            })
        };
        Ok(paths.into_iter().zip(rest).filter_map(url).collect())
    }
}

impl PageColumns {
    fn of_pages(pages: &[(UnixMillis, PageRecord)]) -> Self {
        let mut columns = Self::default();
        let mut last = 0;
        for (visited, page) in pages {
            columns.paths.push(page.path.clone());
            columns.depths.push(page.depth);
            columns.visits.push(visited.0.wrapping_sub(last));
            last = visited.0;
            columns.etags.push(page.etag.clone());
            columns.last_modified.push(page.last_modified.clone());
            columns.has_hash.push(page.sha256.is_some());
            columns.hashes.extend(page.sha256.iter().flatten());
            columns.changes.push(&page.changes);
        }
        columns.get = TimeColumns::of_baselines(pages.iter().map(|(_, page)| page.past.get));
        columns.head = TimeColumns::of_baselines(pages.iter().map(|(_, page)| page.past.head));
        columns
    }

    /// The pages, without those that are none of this host.
    fn into_pages(self, host: &str) -> Result<Vec<(UnixMillis, PageRecord)>, BundleError> {
        let count = self.paths.len();
        let lengths = [
            self.depths.len(),
            self.visits.len(),
            self.etags.len(),
            self.last_modified.len(),
            self.has_hash.len(),
        ];
        let (hashes, rest) = self.hashes.as_chunks::<HASH>();
        let promised = self.has_hash.iter().filter(|has_hash| **has_hash).count();
        if lengths != [count; 5] || hashes.len() != promised || !rest.is_empty() {
            return Err(BundleError::Columns("pages"));
        }
        let mut hashes = hashes.iter();
        let mut get = self.get.into_baselines(count)?.into_iter();
        let mut head = self.head.into_baselines(count)?.into_iter();
        let changes = self.changes.into_rates(count)?;
        let mut validators = self.etags.into_iter().zip(self.last_modified);
        let mut visited = 0_i64;
        let mut pages = Vec::with_capacity(count);
        for (number, path) in self.paths.into_iter().enumerate() {
            visited = visited.wrapping_add(self.visits[number]);
            let (etag, last_modified) = validators.next().unwrap_or_default();
            // A page whose request cannot be built, or is refused for its headers, would never be
            // read again.
            let Validators { etag, last_modified } = Validators::of_texts(etag, last_modified);
            let times = (get.next().flatten(), head.next().flatten());
            let (Some(get), Some(head)) = times else { return Err(BundleError::Times(path)) };
            let depth = self.depths[number];
            let sha256 = self.has_hash[number].then(|| hashes.next().copied()).flatten();
            if is_path_of(host, &path) {
                let past = PageHistory { get, head };
                let changes = changes[number];
                let page = PageRecord { path, depth, etag, last_modified, sha256, past, changes };
                pages.push((UnixMillis(visited), page));
            }
        }
        Ok(pages)
    }
}

impl ChangeColumns {
    fn push(&mut self, changes: &ChangeRate) {
        let ChangeRate { text_hash, interval_s, advance_s } = *changes;
        self.has_text.push(text_hash.is_some());
        self.text_hashes.extend(text_hash.iter().flatten());
        self.intervals_s.push(interval_s);
        self.advances_s.push(advance_s);
    }

    fn into_rates(self, count: usize) -> Result<Vec<ChangeRate>, BundleError> {
        let Self { has_text, text_hashes, intervals_s, advances_s } = self;
        let (hashes, rest) = text_hashes.as_chunks::<TEXT_HASH>();
        let promised = has_text.iter().filter(|has_text| **has_text).count();
        let lengths = [has_text.len(), intervals_s.len(), advances_s.len()];
        if lengths != [count; 3] || hashes.len() != promised || !rest.is_empty() {
            return Err(BundleError::Columns("changes of pages"));
        }
        let mut hashes = hashes.iter().copied();
        let rows = has_text.into_iter().zip(intervals_s).zip(advances_s);
        let rates = rows.map(|((has_text, interval_s), advance_s)| {
            let text_hash = if has_text { hashes.next() } else { None };
            ChangeRate { text_hash, interval_s, advance_s }
        });
        Ok(rates.collect())
    }
}

impl TimeColumns {
    fn of_baselines(baselines: impl Iterator<Item = Baseline>) -> Self {
        let mut columns = Self::default();
        let mut values: [Vec<f32>; VALUES] = Default::default();
        for baseline in baselines {
            let compact = baseline.compact();
            columns.timings.push(compact.map_or(0, |compact| compact.timings));
            columns.slow_in_a_row.push(compact.map_or(0, |compact| compact.slow_in_a_row));
            for (column, value) in values.iter_mut().zip(compact.iter().flat_map(|c| c.values)) {
                column.push(value);
            }
        }
        columns.values = values.map(|column| Planes(planes::encode(&column)));
        columns
    }

    /// The baselines; each is none where its numbers are impossible.
    fn into_baselines(self, count: usize) -> Result<Vec<Option<Baseline>>, BundleError> {
        let wrong = || BundleError::Columns("times of pages");
        if [self.timings.len(), self.slow_in_a_row.len()] != [count; 2] {
            return Err(wrong());
        }
        let timed = self.timings.iter().filter(|timings| **timings > 0).count();
        let columns = self.values.iter().map(|column| planes::decode(&column.0, timed));
        let columns: Vec<Vec<f32>> = columns.collect::<Option<_>>().ok_or_else(wrong)?;
        let mut row = 0;
        let baseline = |(timings, slow_in_a_row): (u32, u32)| {
            if timings == 0 {
                return Some(Baseline::default());
            }
            let mut values = [0.0; VALUES];
            for (value, column) in values.iter_mut().zip(&columns) {
                *value = *column.get(row)?;
            }
            row += 1;
            Baseline::from_compact(CompactBaseline { timings, slow_in_a_row, values })
        };
        Ok(self.timings.into_iter().zip(self.slow_in_a_row).map(baseline).collect())
    }
}
