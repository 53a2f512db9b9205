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

/// Most paths of one kind beside a bundle: an empty path is one byte in the message, and 24 to 32
/// bytes in memory.
const MAX_PATHS: usize = 1_000_000;

/// Everything that an agent knows of one host.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct HostUrls {
    /// A [`HostBundle`]; none where the host is not in the frontier, or too large for one.
    bundle: Option<Vec<u8>>,
    /// URLs that are to be fetched.
    #[serde(deserialize_with = "at_most::<MAX_PATHS, _, _>")]
    queued: Vec<QueuedPath>,
    /// Paths that were fetched.
    #[serde(deserialize_with = "at_most::<MAX_PATHS, _, _>")]
    fetched: Vec<String>,
}

/// A URL of the host that is to be fetched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct QueuedPath {
    path: String,
    depth: u16,
    redirects: u8,
}

/// What a receiver makes of it.
#[derive(Debug, Default, PartialEq)]
pub(super) struct ReceivedHost {
    /// The bundle, encoded and decoded.
    pub(super) bundle: Option<(Vec<u8>, HostBundle)>,
    /// Further URLs of the host.
    pub(super) urls: Vec<ReceivedUrl>,
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
        // A host that is larger than any bundle. Its queue begins anew at depth 0.
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
    pub(super) fn decode(bytes: &[u8], key: &str) -> Result<ReceivedHost, BundleError> {
        let Self { bundle, queued, fetched } =
            postcard::from_bytes(bytes).map_err(BundleError::Content)?;
        let bundle = match bundle {
            Some(bytes) => {
                let bundle = HostBundle::decode(&bytes)?;
                Some((bytes, bundle)).filter(|(_, bundle)| bundle.record.key == key)
            }
            None => None,
        };
        let fetched = fetched.iter().filter_map(|path| ReceivedUrl::fetched(key, path));
        let queued = queued
            .iter()
            .filter_map(|of| ReceivedUrl::queued(key, &of.path, (of.depth, of.redirects)));
        Ok(ReceivedHost { bundle, urls: fetched.chain(queued).collect() })
    }
}

impl ReceivedHost {
    /// All URLs, those of the bundle included, for an agent that only notes them.
    pub(super) fn into_notes(self, host: HostAtAddress) -> Vec<RoutedUrl> {
        let mut urls = self.urls;
        if let Some((_, bundle)) = self.bundle {
            let key = &bundle.record.key;
            urls.extend(bundle.pages.iter().filter_map(|(_, page)| {
                // Like the frontier, which queues the pages of a bundle that have no content.
                let url = ReceivedUrl::queued(key, &page.path, (page.depth, 0))?;
                Some(ReceivedUrl { is_fetched: page.has_content(), ..url })
            }));
            urls.extend(
                bundle.queue.iter().filter_map(|url| {
                    ReceivedUrl::queued(key, &url.path, (url.depth, url.redirects))
                }),
            );
        }
        urls.into_iter().map(|url| url.routed(host)).collect()
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

fn url_of(key: &str, path: &str) -> Option<CrawlUrl> {
    let url = CrawlUrl::parse(&format!("{key}{path}")).ok()?;
    (url.host_key_str() == key).then_some(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queued(path: &str) -> QueuedPath {
        QueuedPath { path: path.into(), depth: 3, redirects: 1 }
    }

    #[test]
    fn urls_of_other_hosts_are_left_out() {
        let urls = HostUrls {
            bundle: None,
            queued: vec![queued("/a"), queued("@evil.example/")],
            fetched: vec!["/b?c".into()],
        };
        let received = HostUrls::decode(&urls.encode().unwrap(), "http://h.example").unwrap();
        let read: Vec<(&str, bool, u16)> =
            received.urls.iter().map(|url| (url.url.as_str(), url.is_fetched, url.depth)).collect();
        assert_eq!(read, [("http://h.example/b?c", true, 0), ("http://h.example/a", false, 3)]);
        assert!(HostUrls::decode(&[0xff; 9], "http://h.example").is_err());
        let broken = HostUrls { bundle: Some(vec![1, 2, 3]), ..HostUrls::default() };
        assert!(HostUrls::decode(&broken.encode().unwrap(), "http://h.example").is_err());
    }
}
