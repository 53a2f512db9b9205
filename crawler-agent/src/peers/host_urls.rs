//! A host as one agent of a region hands it to another: its bundle, where it is in the frontier,
//! and the URLs that are only noted.

use model::CrawlUrl;
use protocol::bounded::at_most;
use region::{
    HostAtAddress,
    message::{RoutedUrl, UrlPurpose},
};
use serde::{Deserialize, Serialize};

use super::PeersError;
use crate::frontier::{BundleError, FrontierHandle, HostBundle, HostNumber};

/// Most paths of one kind beside a bundle: an empty path is one byte in the message, and 16 to 24
/// bytes in memory.
const MAX_PATHS: usize = 1_000_000;

/// Everything that an agent knows of one host. When it is read, its texts stay where they were
/// received, because a URL takes many times the memory of its path.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound(deserialize = "T: Deserialize<'de>, B: Deserialize<'de>"))]
pub(super) struct HostUrls<T = String, B = Vec<u8>> {
    /// A [`HostBundle`]; none where the host is not in the frontier, or too large for one.
    bundle: Option<B>,
    /// URLs that are to be fetched.
    #[serde(deserialize_with = "at_most::<MAX_PATHS, _, _>")]
    queued: Vec<QueuedPath<T>>,
    /// Paths that were fetched.
    #[serde(deserialize_with = "at_most::<MAX_PATHS, _, _>")]
    fetched: Vec<T>,
}

/// A URL of the host that is to be fetched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct QueuedPath<T> {
    path: T,
    depth: u16,
    redirects: u8,
}

/// What a receiver makes of it.
#[derive(Debug)]
pub(super) struct ReceivedHost<'a> {
    key: &'a str,
    /// The bundle, encoded and decoded.
    pub(super) bundle: Option<(&'a [u8], HostBundle)>,
    queued: Vec<QueuedPath<&'a str>>,
    fetched: Vec<&'a str>,
}

/// A URL that another agent knows.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ReceivedUrl {
    url: CrawlUrl,
    is_fetched: bool,
    depth: u16,
    redirects: u8,
}

impl HostUrls {
    /// A host of the frontier.
    pub(super) fn of(store: &FrontierHandle, host: HostNumber) -> Result<Self, PeersError> {
        if let Some(bundle) = store.bundle_here(host)? {
            match bundle.encode() {
                Err(BundleError::TooLarge) => {}
                bytes => return Ok(Self { bundle: Some(bytes?), ..Self::default() }),
            }
        }
        // A host that is larger than any bundle. Its queue begins again at depth 0.
        let (queued, fetched) = store.paths(host)?;
        let queued = queued.into_iter().map(|path| QueuedPath { path, depth: 0, redirects: 0 });
        Ok(Self { bundle: None, queued: queued.collect(), fetched })
    }

    /// Adds what is only noted.
    pub(super) fn add_notes(&mut self, notes: Vec<RoutedUrl>) {
        for note in notes {
            let path = note.url.path_and_query().to_owned();
            let RoutedUrl { depth, redirects, .. } = note;
            match note.purpose {
                UrlPurpose::Fetched => self.fetched.push(path),
                UrlPurpose::Known | UrlPurpose::Fetch => {
                    self.queued.push(QueuedPath { path, depth, redirects });
                }
            }
        }
    }

    /// The bytes for the other agent.
    pub(super) fn encode(&self) -> Result<Vec<u8>, postcard::Error> {
        postcard::to_allocvec(self)
    }

    /// Reads the bytes of another agent about the host with this key. What is no URL of the host
    /// is left out.
    pub(super) fn decode<'a>(
        bytes: &'a [u8],
        key: &'a str,
    ) -> Result<ReceivedHost<'a>, BundleError> {
        let HostUrls::<&str, &[u8]> { bundle, queued, fetched } =
            postcard::from_bytes(bytes).map_err(BundleError::Content)?;
        let bundle = match bundle {
            Some(bytes) => {
                let bundle = HostBundle::decode(bytes)?;
                Some((bytes, bundle)).filter(|(_, bundle)| bundle.record.key == key)
            }
            None => None,
        };
        Ok(ReceivedHost { key, bundle, queued, fetched })
    }
}

impl ReceivedHost<'_> {
    /// The URLs beside the bundle, made one by one.
    pub(super) fn urls(&self) -> impl Iterator<Item = ReceivedUrl> {
        let fetched = self.fetched.iter().filter_map(|path| ReceivedUrl::fetched(self.key, path));
        let queued = self
            .queued
            .iter()
            .filter_map(|of| ReceivedUrl::queued(self.key, of.path, (of.depth, of.redirects)));
        fetched.chain(queued)
    }

    /// All URLs, those of the bundle included, for an agent that only notes them.
    pub(super) fn notes(&self, host: HostAtAddress) -> impl Iterator<Item = RoutedUrl> {
        let bundle = self.bundle.iter().map(|(_, bundle)| bundle);
        let pages = bundle.clone().flat_map(|bundle| &bundle.pages).filter_map(|(_, page)| {
            // Like the frontier, which queues the pages of a bundle that have no content.
            let url = ReceivedUrl::queued(self.key, &page.path, (page.depth, 0))?;
            Some(ReceivedUrl { is_fetched: page.has_content(), ..url })
        });
        let queued = bundle
            .flat_map(|bundle| &bundle.queue)
            .filter_map(|url| ReceivedUrl::queued(self.key, &url.path, (url.depth, url.redirects)));
        self.urls().chain(pages).chain(queued).map(move |url| url.routed(host))
    }
}

impl ReceivedUrl {
    fn fetched(key: &str, path: &str) -> Option<Self> {
        Some(Self { url: url_of(key, path)?, is_fetched: true, depth: 0, redirects: 0 })
    }

    fn queued(key: &str, path: &str, (depth, redirects): (u16, u8)) -> Option<Self> {
        Some(Self { url: url_of(key, path)?, is_fetched: false, depth, redirects })
    }

    /// The URL as it is noted or adopted.
    pub(super) fn routed(self, host: HostAtAddress) -> RoutedUrl {
        let purpose = if self.is_fetched { UrlPurpose::Fetched } else { UrlPurpose::Known };
        let Self { url, depth, redirects, .. } = self;
        RoutedUrl { depth, redirects, ..RoutedUrl::first(url, host, purpose) }
    }
}

/// The URL of a path. One without a slash, such as an empty one, is none, though it may be a URL.
fn url_of(key: &str, path: &str) -> Option<CrawlUrl> {
    if !path.starts_with('/') {
        return None;
    }
    let url = CrawlUrl::parse(&format!("{key}{path}")).ok()?;
    (url.host_key_str() == key).then_some(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queued(path: &str) -> QueuedPath<String> {
        QueuedPath { path: path.into(), depth: 3, redirects: 1 }
    }

    #[test]
    fn urls_of_other_hosts_are_left_out() {
        let urls = HostUrls {
            bundle: None,
            queued: vec![queued("/a"), queued("@evil.example/")],
            fetched: vec!["/b?c".into()],
        };
        let bytes = urls.encode().unwrap();
        let received = HostUrls::decode(&bytes, "http://h.example").unwrap();
        let read: Vec<(String, bool, u16)> =
            received.urls().map(|url| (url.url.into(), url.is_fetched, url.depth)).collect();
        let expected = [("http://h.example/b?c", true, 0), ("http://h.example/a", false, 3)];
        assert_eq!(read, expected.map(|(url, is_fetched, depth)| (url.into(), is_fetched, depth)));
        assert!(HostUrls::decode(&[0xff; 9], "http://h.example").is_err());
        let broken = HostUrls { bundle: Some(vec![1, 2, 3]), ..HostUrls::default() };
        assert!(HostUrls::decode(&broken.encode().unwrap(), "http://h.example").is_err());
    }

    #[test]
    fn empty_paths_are_no_urls() {
        let urls = HostUrls {
            bundle: None,
            queued: vec![queued(""), queued("?a")],
            fetched: vec![String::new()],
        };
        let bytes = urls.encode().unwrap();
        let received = HostUrls::decode(&bytes, "http://h.example").unwrap();
        assert_eq!(received.urls().next(), None);
    }

    #[test]
    fn endless_lists_are_refused() {
        let urls = |queued_paths, fetched_paths| HostUrls {
            bundle: None,
            queued: vec![queued(""); queued_paths],
            fetched: vec![String::new(); fetched_paths],
        };
        for (bad, queued, fetched) in
            [(false, MAX_PATHS, MAX_PATHS), (true, MAX_PATHS + 1, 0), (true, 0, MAX_PATHS + 1)]
        {
            let bytes = urls(queued, fetched).encode().unwrap();
            assert_eq!(HostUrls::decode(&bytes, "http://h.example").is_err(), bad);
        }
    }
}
