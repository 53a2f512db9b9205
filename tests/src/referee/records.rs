//! Requests by host, page and agent.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::IpAddr;
use std::time::Instant;

use crawl_bench::referee::spacing::Spacing;

use crate::web::Resource;

/// Unknown paths remembered by name; more are only counted.
const STRANGERS: usize = 1_000;

#[derive(Debug)]
pub(super) struct FetchRecords {
    pub(super) hosts: Vec<HostRecord>,
    pub(super) agents: BTreeMap<IpAddr, AgentRecord>,
    /// URLs asked for that the web does not have, as host and path.
    pub(super) strangers: BTreeSet<(usize, String)>,
    pub(super) probes: u64,
    started: Instant,
}

/// One host's record.
#[derive(Debug, Clone, Default)]
pub(super) struct HostRecord {
    pub(super) pages: HashMap<usize, PageRecord>,
    pub(super) robots: u32,
    pub(super) sitemaps: u32,
    pub(super) spacing: Spacing,
    pub(super) agents: BTreeSet<IpAddr>,
    /// How often each agent asked for each page.
    pub(super) asked: HashMap<(IpAddr, usize), u32>,
    /// The agent that asked last.
    pub(super) last_agent: Option<IpAddr>,
    /// How often an agent asked that was not the last one.
    pub(super) turns: u32,
}

/// One page's record.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PageRecord {
    pub(super) fetches: u32,
    /// Status of the last answer; 0 while the first is not out.
    pub(super) status: u16,
}

/// One agent's record, by its address.
#[derive(Debug, Clone, Default)]
pub(super) struct AgentRecord {
    pub(super) requests: u64,
    /// When each request arrived.
    pub(super) arrivals: Vec<Instant>,
}

impl FetchRecords {
    pub(super) fn new(hosts: usize, started: Instant) -> Self {
        let hosts = vec![HostRecord::default(); hosts];
        Self { hosts, agents: BTreeMap::new(), strangers: BTreeSet::new(), probes: 0, started }
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
        what: &Resource,
        path: &str,
    ) {
        let of_agent = self.agents.entry(agent).or_default();
        of_agent.requests += 1;
        of_agent.arrivals.push(now);
        let Some(record) = self.hosts.get_mut(host) else { return };
        record.spacing.begin(now.saturating_duration_since(self.started));
        record.agents.insert(agent);
        if record.last_agent.replace(agent) != Some(agent) {
            record.turns += 1;
        }
        match what {
            Resource::Page(page) => {
                record.pages.entry(*page).or_default().fetches += 1;
                *record.asked.entry((agent, *page)).or_default() += 1;
            }
            Resource::Robots => record.robots += 1,
            Resource::Sitemap => record.sitemaps += 1,
            Resource::Nothing if self.strangers.len() < STRANGERS => {
                self.strangers.insert((host, path.to_owned()));
            }
            Resource::Nothing => {}
        }
    }

    /// It is known what the answer will be.
    pub(super) fn answered(&mut self, host: usize, what: &Resource, status: u16) {
        let pages = self.hosts.get_mut(host).map(|host| &mut host.pages);
        if let (Some(pages), Resource::Page(page)) = (pages, what) {
            pages.entry(*page).or_default().status = status;
        }
    }

    /// The answer is out, or the asker has gone.
    pub(super) fn end(&mut self, now: Instant, host: usize) {
        if let Some(record) = self.hosts.get_mut(host) {
            record.spacing.end(now.saturating_duration_since(self.started));
        }
    }
}
