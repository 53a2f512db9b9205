//! The part of an agent that fetches, as far as the region is concerned: queues, pages, bundles.
//! All of it is on disk, as in the agent, whose changes survive the end of the process.

use std::collections::{BTreeMap, BTreeSet};

use region::message::{Bundle, RoutedUrl, UrlPurpose};

use crate::web::{Page, Web};

/// What an agent knows of a host.
#[derive(Debug, Clone, Default)]
pub(crate) struct Frontier {
    pub(crate) queue: BTreeSet<usize>,
    pub(crate) fetched: BTreeSet<usize>,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Engine {
    pub(crate) hosts: BTreeMap<usize, Frontier>,
    /// URLs that wait for other agents.
    pub(crate) waiting: Vec<RoutedUrl>,
}

/// Marks a fetched page in a bundle.
const FETCHED: u8 = 0x80;

impl Engine {
    /// Stores a URL that is to be fetched, or that another agent fetched.
    pub(crate) fn note(&mut self, url: &RoutedUrl) {
        let (host, page) = Web::page(&url.url);
        let frontier = self.hosts.entry(host).or_default();
        if url.purpose == UrlPurpose::Fetched {
            frontier.fetched(page);
        } else {
            frontier.wanted(page);
        }
    }

    pub(crate) fn fetched(&mut self, (host, page): Page) {
        self.hosts.entry(host).or_default().fetched(page);
    }

    pub(crate) fn forget(&mut self, urls: &[RoutedUrl]) {
        self.waiting.retain(|url| !urls.iter().any(|taken| taken.url == url.url));
    }

    pub(crate) fn pack(&self, host: usize) -> Vec<u8> {
        let Some(frontier) = self.hosts.get(&host) else { return Vec::new() };
        let queued = frontier.queue.iter().map(|page| *page as u8);
        let fetched = frontier.fetched.iter().map(|page| *page as u8 | FETCHED);
        queued.chain(fetched).collect()
    }

    pub(crate) fn store(&mut self, bundle: &Bundle) {
        let (host, _) = Web::page(&bundle.front);
        let frontier = self.hosts.entry(host).or_default();
        for byte in &bundle.bytes {
            let page = usize::from(byte & !FETCHED);
            if byte & FETCHED == 0 { frontier.wanted(page) } else { frontier.fetched(page) }
        }
    }
}

impl Frontier {
    fn wanted(&mut self, page: usize) {
        if !self.fetched.contains(&page) {
            self.queue.insert(page);
        }
    }

    fn fetched(&mut self, page: usize) {
        self.queue.remove(&page);
        self.fetched.insert(page);
    }
}
