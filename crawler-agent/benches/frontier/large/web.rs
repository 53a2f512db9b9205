//! The web of the large frontier: hosts with as many URLs each, and links between them.

use crawler_agent::frontier::{HostBundle, HostRecord, QueueItem, QueuedUrl};
use model::{CrawlUrl, url::fingerprint};
use rand::{Rng as _, RngExt as _, rngs::StdRng};

use crate::visits::NOW;

/// URLs of each host that were queued before.
pub(crate) const URLS_A_HOST: u64 = 100;
/// Links of a page: the median of real pages.
pub(crate) const LINKS: usize = 60;
/// Links of a page to other hosts.
const TO_OTHER_HOSTS: usize = 9;
/// Share of the links that lead to URLs nobody has seen: about one of each page.
const NEW: f64 = 0.02;
/// Spreads the hosts that many links lead to among all hosts; prime to every power of ten.
const SPREAD: u64 = 611_953;

/// Hosts by their numbers from 0 on.
pub(crate) struct Web {
    hosts: u64,
}

impl Web {
    pub(crate) fn new(hosts: u64) -> Self {
        Self { hosts }
    }

    pub(crate) fn hosts(&self) -> u64 {
        self.hosts
    }

    /// Links of a page: most to its own host, the others to hosts by Zipf's law with exponent 1.
    pub(crate) fn links(&self, of: &QueueItem, rng: &mut StdRng) -> anyhow::Result<Vec<CrawlUrl>> {
        let mut links = Vec::with_capacity(LINKS);
        for number in 0..LINKS {
            let target =
                if number < TO_OTHER_HOSTS { key(self.popular(rng)) } else { of_host(&of.url) };
            links.push(CrawlUrl::parse(&format!("{target}/{}", page(rng)))?);
        }
        Ok(links)
    }

    /// A host; the one of rank *r* is *r* times rarer than the first.
    fn popular(&self, rng: &mut StdRng) -> u64 {
        let rank = (self.hosts as f64).powf(rng.random::<f64>()) as u64 - 1;
        rank * SPREAD % self.hosts
    }
}

/// All that is known of a host at first: one URL in its queue, the others visited before.
pub(crate) fn bundle(host: u64) -> HostBundle {
    let key = key(host);
    let short = |number: u64| {
        let whole = fingerprint(&format!("{key}/{number}"));
        u64::from_le_bytes(std::array::from_fn(|byte| whole[byte]))
    };
    let first = QueuedUrl { path: "/0".into(), depth: 0, redirects: 0, attempts: 0 };
    HostBundle {
        queue: vec![first],
        pages: Vec::new(),
        seen: (1..URLS_A_HOST).map(short).collect(),
        record: HostRecord { key, due: NOW, accepted: URLS_A_HOST as u32, ended: 0, failures: 0 },
    }
}

fn key(host: u64) -> String {
    format!("http://h{host}.example")
}

fn of_host(url: &CrawlUrl) -> String {
    url.host_key_str().to_owned()
}

/// Number of a page of any host.
fn page(rng: &mut StdRng) -> u64 {
    if rng.random_bool(NEW) { rng.next_u64() >> 32 } else { rng.random_range(0..URLS_A_HOST) }
}
