//! Host addresses: the address of each host that a link leads to. The agent that discovers a host
//! resolves it. From then on the address travels with the host, so that it has one owner.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::Mutex,
    time::{Duration, Instant},
};

use futures_util::{StreamExt as _, stream};
use model::CrawlUrl;
use region::{HostAtAddress, HostPosition};
use tokio::sync::Semaphore;

use crate::{lock::lock, resolve::Resolver};

/// Lookups at the same time for the links of one page.
const LOOKUPS: usize = 16;
/// Longest time for one lookup.
const LOOKUP: Duration = Duration::from_secs(5);
/// Longest time for the lookups of one page. Links that are left travel to the coordinator.
const LOOKUPS_OF_PAGE: Duration = Duration::from_secs(15);
/// Time after which a failed lookup is repeated.
const RETRY: Duration = Duration::from_mins(1);
/// How long the address of a link's host counts, once it was looked up.
pub(super) const OF_LINK: Duration = Duration::from_hours(24);
/// How long that of a host counts that is to be fetched.
pub(super) const OF_FETCH: Duration = Duration::from_hours(1);
/// Hosts outside the region that are remembered.
const MOST: usize = 50_000;

/// Lookups at the same time for links of all pages: while these wait for their turn, the names of
/// hosts that are due wait behind them.
const LOOKUPS_OF_LINKS: usize = 32;

/// What is known of hosts.
#[derive(Debug)]
pub(super) struct HostAddresses {
    known: Mutex<AddressesByPosition>,
    of_links: Semaphore,
}

impl Default for HostAddresses {
    fn default() -> Self {
        Self { known: Mutex::default(), of_links: Semaphore::new(LOOKUPS_OF_LINKS) }
    }
}

#[derive(Debug, Default)]
struct AddressesByPosition {
    /// Hosts of the region by position, with a URL.
    hosts: HashMap<HostPosition, (HostAtAddress, CrawlUrl)>,
    /// Addresses that were looked up, and when.
    looked_up: HashMap<HostPosition, (Option<IpAddr>, Instant)>,
}

impl HostAddresses {
    /// Sets where a host is, as its discoverer found it.
    pub(super) fn set(&self, url: &CrawlUrl, host: HostAtAddress) {
        lock(&self.known).hosts.insert(host.position, (host, url.clone()));
    }

    /// Forgets where a host is.
    pub(super) fn forget(&self, host: HostPosition) {
        let mut known = lock(&self.known);
        known.hosts.remove(&host);
        known.looked_up.remove(&host);
    }

    /// Forgets all hosts of the region, which the agent leaves.
    pub(super) fn clear(&self) {
        *lock(&self.known) = AddressesByPosition::default();
    }

    /// A URL of a host of the region.
    pub(super) fn front(&self, host: HostPosition) -> Option<CrawlUrl> {
        lock(&self.known).hosts.get(&host).map(|(_, url)| url.clone())
    }

    /// The host of a URL, if its address is known.
    pub(super) fn known(&self, url: &CrawlUrl) -> Option<HostAtAddress> {
        let position = HostPosition::of(url.host_key_str());
        let known = lock(&self.known);
        if let Some((host, _)) = known.hosts.get(&position) {
            return Some(*host);
        }
        let (address, _) = known.looked_up.get(&position)?;
        address.map(|address| HostAtAddress { position, address })
    }

    /// The host of a URL, whose address is looked up where it is not known.
    pub(super) async fn of(&self, url: &CrawlUrl, resolver: &Resolver) -> Option<HostAtAddress> {
        if self.needs_lookup(url, OF_FETCH) {
            self.look_up(url, resolver).await;
        }
        self.known(url)
    }

    /// Looks hosts up that are not known, for as long as the links of one page may take.
    pub(super) async fn resolve_all(
        &self,
        urls: &[CrawlUrl],
        valid_for: Duration,
        resolver: &Resolver,
    ) {
        let of_links = &self.of_links;
        let mut hosts: HashMap<&str, &CrawlUrl> = HashMap::new();
        for url in urls {
            hosts.entry(url.host_key_str()).or_insert(url);
        }
        let unknown = hosts.into_values().filter(|url| self.needs_lookup(url, valid_for));
        let lookups = unknown.map(|url| async move {
            // The semaphore is never closed.
            let _permit = of_links.acquire().await;
            self.look_up(url, resolver).await;
        });
        // Collected, because a stream over a borrowed iterator is not general enough for a task.
        let lookups: Vec<_> = lookups.collect();
        let looking_up = stream::iter(lookups).buffer_unordered(LOOKUPS).for_each(|()| async {});
        drop(tokio::time::timeout(LOOKUPS_OF_PAGE, looking_up).await);
    }

    /// Whether the address of a URL's host is not known, or was looked up longer ago than this.
    pub(super) fn needs_lookup(&self, url: &CrawlUrl, valid_for: Duration) -> bool {
        let position = HostPosition::of(url.host_key_str());
        let known = lock(&self.known);
        let is_fresh = |(address, at): &(Option<IpAddr>, Instant)| {
            at.elapsed() < if address.is_some() { valid_for } else { RETRY }
        };
        !known.hosts.contains_key(&position)
            && !known.looked_up.get(&position).is_some_and(is_fresh)
    }

    async fn look_up(&self, url: &CrawlUrl, resolver: &Resolver) {
        let found = tokio::time::timeout(LOOKUP, resolver.addresses(url)).await;
        let found = found.ok().and_then(Result::ok).unwrap_or_default();
        let mut known = lock(&self.known);
        if known.looked_up.len() >= MOST {
            known.looked_up.clear();
        }
        let position = HostPosition::of(url.host_key_str());
        let former = known.looked_up.get(&position).and_then(|(address, _)| *address);
        // Another address may have another owner.
        let still = former.filter(|address| found.is_empty() || found.contains(address));
        let address = still.or(found.first().copied());
        known.looked_up.insert(position, (address, Instant::now()));
    }
}
