//! What happened, host by host and page by page.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::IpAddr;
use std::time::{Duration, Instant};

use crate::web::What;

/// Unknown paths remembered by name; more are only counted.
const STRANGERS: usize = 1_000;

/// All books.
#[derive(Debug)]
pub(super) struct Books {
    pub(super) hosts: Vec<HostBook>,
    pub(super) agents: BTreeMap<IpAddr, AgentBook>,
    /// URLs asked for that the web does not have, as host and path.
    pub(super) strangers: BTreeSet<(usize, String)>,
    pub(super) probes: u64,
}

/// One host's book.
#[derive(Debug, Clone, Default)]
pub(super) struct HostBook {
    pub(super) pages: HashMap<usize, PageBook>,
    pub(super) robots: u32,
    pub(super) sitemaps: u32,
    pub(super) most_in_flight: u32,
    /// Between the end of one answer and the start of the next request.
    pub(super) smallest_gap: Option<Duration>,
    pub(super) agents: BTreeSet<IpAddr>,
    /// How often each agent asked for each page.
    pub(super) asked: HashMap<(IpAddr, usize), u32>,
    in_flight: u32,
    last_end: Option<Instant>,
}

/// One page's book.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PageBook {
    pub(super) fetches: u32,
    /// Status of the last answer; 0 while the first is not out.
    pub(super) status: u16,
}

/// One agent's book, by its address.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct AgentBook {
    pub(super) requests: u64,
    pub(super) plain_bytes: u64,
    pub(super) wire_bytes: u64,
}

impl Books {
    pub(super) fn new(hosts: usize) -> Self {
        let hosts = vec![HostBook::default(); hosts];
        Self { hosts, agents: BTreeMap::new(), strangers: BTreeSet::new(), probes: 0 }
    }

    /// A HEAD request: a probe.
    pub(super) fn probe(&mut self) {
        self.probes += 1;
    }

    /// A request arrived.
    pub(super) fn begin(
        &mut self,
        now: Instant,
        agent: IpAddr,
        host: usize,
        what: &What,
        path: &str,
    ) {
        self.agents.entry(agent).or_default().requests += 1;
        let Some(book) = self.hosts.get_mut(host) else { return };
        book.begin(now);
        book.agents.insert(agent);
        match what {
            What::Page(page) => {
                book.pages.entry(*page).or_default().fetches += 1;
                *book.asked.entry((agent, *page)).or_default() += 1;
            }
            What::Robots => book.robots += 1,
            What::Sitemap => book.sitemaps += 1,
            What::Nothing if self.strangers.len() < STRANGERS => {
                self.strangers.insert((host, path.to_owned()));
            }
            What::Nothing => {}
        }
    }

    /// It is known what the answer will be.
    pub(super) fn answered(
        &mut self,
        agent: IpAddr,
        host: usize,
        what: &What,
        status: u16,
        bytes: (u64, u64),
    ) {
        let book = self.agents.entry(agent).or_default();
        book.plain_bytes += bytes.0;
        book.wire_bytes += bytes.1;
        let pages = self.hosts.get_mut(host).map(|host| &mut host.pages);
        if let (Some(pages), What::Page(page)) = (pages, what) {
            pages.entry(*page).or_default().status = status;
        }
    }

    /// The answer is out, or the asker has gone.
    pub(super) fn end(&mut self, now: Instant, host: usize) {
        if let Some(book) = self.hosts.get_mut(host) {
            book.in_flight = book.in_flight.saturating_sub(1);
            book.last_end = Some(now);
        }
    }
}

impl HostBook {
    fn begin(&mut self, now: Instant) {
        if let Some(end) = self.last_end {
            // A request that arrives while another is answered leaves no gap at all.
            let gap = if self.in_flight > 0 {
                Duration::ZERO
            } else {
                now.saturating_duration_since(end)
            };
            self.smallest_gap = Some(self.smallest_gap.map_or(gap, |smallest| smallest.min(gap)));
        }
        self.in_flight += 1;
        self.most_in_flight = self.most_in_flight.max(self.in_flight);
    }
}
