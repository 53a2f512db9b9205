//! Inbox: links to hosts that are not in memory.
//!
//! Whether such a link is new would have to be read from disk, which most of them are not worth. A
//! link waits here until its host is read for another reason, or for long enough, and is decided
//! before anything else is done with the host. So the host is as if the link had been decided when
//! it came, and it does not matter whether a replay of the log finds the host in memory.

use std::collections::BTreeMap;

use model::{CrawlUrl, UnixMillis};
use serde::{Deserialize, Serialize};

use super::{host::Arrival, seen::SeenUrl, short};
use crate::frontier::{Bounds, HostNumber};

/// Bytes of a URL in memory, with its place in the map.
const URL_BYTES: usize = size_of::<InboxUrl>() + 64;

/// A URL that is not decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::frontier) struct InboxUrl {
    #[serde(with = "postcard::fixint::le")]
    pub(in crate::frontier) fingerprint: SeenUrl,
    /// Path and query.
    pub(in crate::frontier) path: Box<str>,
    pub(in crate::frontier) depth: u16,
    pub(in crate::frontier) redirects: u8,
    /// Bound of the host's URLs when the link came.
    pub(in crate::frontier) pages_a_host: u32,
    /// When the link came.
    pub(in crate::frontier) at: UnixMillis,
}

impl InboxUrl {
    pub(super) fn new(arrival: Arrival<'_>, bounds: Bounds, at: UnixMillis) -> Self {
        let Arrival { url, depth, redirects } = arrival;
        Self {
            fingerprint: short(url.fingerprint()),
            path: url.path_and_query().into(),
            depth,
            redirects,
            pages_a_host: bounds.pages_a_host,
            at,
        }
    }

    /// Whether it is this URL. Another host's key may have the same hash.
    pub(in crate::frontier) fn is(&self, url: &CrawlUrl) -> bool {
        short(url.fingerprint()) == self.fingerprint
    }
}

/// URLs with their orders.
pub(in crate::frontier) type InboxUrls = BTreeMap<u64, InboxUrl>;

/// The links to a host.
#[derive(Debug, Default)]
pub(super) struct Links {
    pub(super) urls: InboxUrls,
    /// Whether some are on disk, or will be with the running checkpoint.
    pub(super) are_stored: bool,
}

impl Links {
    /// Adds links that are on disk.
    pub(super) fn add_stored(&mut self, urls: InboxUrls) {
        self.are_stored |= !urls.is_empty();
        self.urls.extend(urls);
    }
}

/// Links to hosts that are not in memory; others are on disk.
#[derive(Debug, Default)]
pub(in crate::frontier) struct Inbox {
    /// Those since the last checkpoint.
    fresh: BTreeMap<(HostNumber, u64), InboxUrl>,
    /// Those that the running checkpoint writes.
    being_written: BTreeMap<(HostNumber, u64), InboxUrl>,
    bytes: usize,
    /// When the first of the fresh links came.
    first: Option<UnixMillis>,
    /// When the first link came that the running checkpoint writes.
    first_being_written: Option<UnixMillis>,
}

impl Inbox {
    pub(super) fn push(&mut self, host: HostNumber, order: u64, url: InboxUrl) {
        self.bytes += URL_BYTES + url.path.len();
        self.first = Some(self.first.map_or(url.at, |first| first.min(url.at)));
        self.fresh.insert((host, order), url);
    }

    /// Takes the links to a host that are in memory.
    pub(super) fn take(&mut self, host: HostNumber) -> Links {
        let keys = (host, 0)..=(host, u64::MAX);
        let mut links = Links::default();
        for ((_, order), url) in self.fresh.extract_if(keys.clone(), |_, _| true) {
            self.bytes = self.bytes.saturating_sub(URL_BYTES + url.path.len());
            links.urls.insert(order, url);
        }
        let written = self.being_written.range(keys);
        links.add_stored(written.map(|((_, order), url)| (*order, url.clone())).collect());
        links
    }

    /// Takes what a checkpoint has to write.
    pub(super) fn changes(&mut self) -> Vec<(HostNumber, u64, InboxUrl)> {
        self.bytes = 0;
        self.first_being_written = self.first.take();
        self.being_written = std::mem::take(&mut self.fresh);
        let urls = self.being_written.iter();
        urls.map(|((host, order), url)| (*host, *order, url.clone())).collect()
    }

    /// The last checkpoint is complete.
    pub(super) fn committed(&mut self) {
        self.being_written.clear();
        self.first_being_written = None;
    }

    /// Bytes in memory of those that no checkpoint has, about.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// When the first of the links in memory came.
    pub(super) fn first(&self) -> Option<UnixMillis> {
        self.first.into_iter().chain(self.first_being_written).min()
    }
}
