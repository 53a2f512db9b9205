//! One simulated agent: the member of the region and an engine with queues and pages.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use model::CrawlUrl;
use region::message::{Bundle, RoutedUrl, UrlPurpose};
use region::{HostAtAddress, Member};

/// What an agent knows of a host.
#[derive(Debug, Default)]
pub(super) struct Frontier {
    pub(super) queue: VecDeque<u32>,
    /// Pages that are queued or fetched; true if fetched.
    seen: BTreeMap<u32, bool>,
}

pub(super) struct Agent {
    /// The process; none while the agent is down.
    pub(super) member: Option<Member>,
    pub(super) incarnation: u64,
    pub(super) hosts: BTreeMap<u32, Frontier>,
    /// Hosts in the order in which they are visited.
    pub(super) visits: VecDeque<u32>,
    visiting: BTreeSet<u32>,
    /// URLs that wait for other agents.
    pub(super) waiting: BTreeMap<String, RoutedUrl>,
}

/// Host and page of each URL of the simulation.
pub(super) fn page_of(url: &CrawlUrl) -> (u32, u32) {
    let host = url.host_key_str().trim_start_matches("http://h");
    let page = url.path_and_query().trim_start_matches('/');
    (host.parse().unwrap_or_default(), page.parse().unwrap_or_default())
}

/// URL of a page.
pub(super) fn url_of(host: u32, page: u32) -> Option<CrawlUrl> {
    CrawlUrl::parse(&format!("http://h{host}/{page}")).ok()
}

/// Marks a fetched page in a bundle.
const FETCHED: u32 = 1 << 31;

impl Agent {
    pub(super) fn new() -> Self {
        Self {
            member: None,
            incarnation: 0,
            hosts: BTreeMap::new(),
            visits: VecDeque::new(),
            visiting: BTreeSet::new(),
            waiting: BTreeMap::new(),
        }
    }

    /// Forgets everything, as a crash without disk does.
    pub(super) fn lose_disk(&mut self) {
        *self = Self { incarnation: self.incarnation, ..Self::new() };
    }

    pub(super) fn note(&mut self, url: &RoutedUrl) {
        let (host, page) = page_of(&url.url);
        self.learn(host, page, url.purpose == UrlPurpose::Fetched);
    }

    pub(super) fn learn(&mut self, host: u32, page: u32, fetched: bool) {
        let frontier = self.hosts.entry(host).or_default();
        if let Some(is_fetched) = frontier.seen.get_mut(&page) {
            *is_fetched |= fetched;
        } else {
            frontier.seen.insert(page, fetched);
            if !fetched {
                frontier.queue.push_back(page);
            }
        }
        if !frontier.queue.is_empty() && self.visiting.insert(host) {
            self.visits.push_back(host);
        }
    }

    /// Whether a page of this agent's host is known.
    pub(super) fn knows(&self, host: u32, page: u32) -> bool {
        self.hosts.get(&host).is_some_and(|frontier| frontier.seen.contains_key(&page))
    }

    /// The next host to be visited; [`Agent::visit_again`] puts it back.
    pub(super) fn next_visit(&mut self) -> Option<u32> {
        let host = self.visits.pop_front()?;
        self.visiting.remove(&host);
        Some(host)
    }

    pub(super) fn visit_again(&mut self, host: u32) {
        let waits = self.hosts.get(&host).is_some_and(|frontier| !frontier.queue.is_empty());
        if waits && self.visiting.insert(host) {
            self.visits.push_back(host);
        }
    }

    /// The next page of a host that was not fetched.
    pub(super) fn next_page(&mut self, host: u32) -> Option<u32> {
        let frontier = self.hosts.get_mut(&host)?;
        while let Some(page) = frontier.queue.pop_front() {
            if frontier.seen.insert(page, true) == Some(false) {
                return Some(page);
            }
        }
        None
    }

    pub(super) fn pack(&self, host: u32) -> Vec<u8> {
        let Some(frontier) = self.hosts.get(&host) else { return Vec::new() };
        let word = |(page, fetched): (&u32, &bool)| page | if *fetched { FETCHED } else { 0 };
        frontier.seen.iter().flat_map(|entry| word(entry).to_le_bytes()).collect()
    }

    pub(super) fn store(&mut self, bundle: &Bundle) {
        let (host, _) = page_of(&bundle.front);
        for bytes in bundle.bytes.chunks_exact(4) {
            let word = bytes.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte));
            self.learn(host, word & !FETCHED, word & FETCHED != 0);
        }
    }

    pub(super) fn drop_host(&mut self, host: u32) {
        self.hosts.remove(&host);
    }

    /// All hosts with one URL each, for a restart.
    pub(super) fn restored(&self, placed: impl Fn(u32) -> HostAtAddress) -> Vec<RoutedUrl> {
        let url = |(host, frontier): (&u32, &Frontier)| {
            let page = *frontier.seen.keys().next()?;
            let url = url_of(*host, page)?;
            let host = placed(*host);
            Some(RoutedUrl::first(url, host, UrlPurpose::Fetch))
        };
        self.hosts.iter().filter_map(url).collect()
    }
}
