//! Peers: the agent as a member of a region (crate `region`), for owners who allow it.
//!
//! - [`core`]: the member, which decides, behind one lock
//! - [`worker`], [`bundles`], [`dropped_hosts`]: the thread that executes what the member asks for,
//!   in its order
//! - [`disk`]: what the member must find again after a restart
//! - [`opening`], [`driving`]: how the agent becomes a member, and what keeps it going
//! - [`host_addresses`]: addresses of the hosts of links, each resolved once
//! - [`outgoing`], [`relay`], [`listener`]: how envelopes travel: to peers that listen, through the
//!   coordinator, and from peers, over bounded [`connections`]
//!
//! The crawl asks [`Peers::permission`] before each request, and gives every link to
//! [`Peers::share`] before its page counts as fetched. Without a roster everything is as without a
//! region.

mod bundles;
mod collection;
mod connections;
mod coordinator_queue;
mod core;
mod delivery;
mod delivery_queue;
mod disk;
mod disk_error;
mod driving;
mod dropped_hosts;
mod host_addresses;
mod host_urls;
mod kept;
mod listener;
mod membership_end;
mod note_counts;
mod opening;
mod outgoing;
mod peer_client;
mod relay;
mod request_body;
mod signer;
mod status;
mod worker;

use std::{
    sync::{Arc, Mutex, MutexGuard, mpsc::Sender},
    time::Duration,
};

use model::{CrawlPolicy, CrawlUrl};
use protocol::Route;
use region::{
    Denial, HostAtAddress, HostPosition, Millis, Permit,
    member::{Identity, Link},
    roster::RosterError,
};
use tokio::sync::{Notify, oneshot};

use crate::{
    config::PeerRules, coordinator_client::CoordinatorClient, elapsed_clock, frontier::BundleError,
    frontier::FrontierError, lock::lock, resolve::Resolver,
};
pub(crate) use connections::BoundedListener;
use core::Core;
use disk::FormerMembership;
use disk_error::PeersDiskError;
use host_addresses::HostAddresses;
pub use listener::PeerListener;
pub use opening::{PeerCrawl, PeerIdentity};
use outgoing::Outgoing;
pub use status::RegionStatus;
use worker::Work;

/// Pause before a link is offered again when too many URLs wait for other agents.
const FULL: Duration = Duration::from_millis(500);
/// What ends the agent.
#[derive(Debug, thiserror::Error)]
pub enum PeersError {
    /// The file failed.
    #[error(transparent)]
    Disk(#[from] PeersDiskError),
    /// The frontier failed.
    #[error(transparent)]
    Frontier(#[from] FrontierError),
    /// What was stored of the region cannot be used.
    #[error("the stored roster cannot be used: delete region.redb while the agent is stopped")]
    Roster(#[from] RosterError),
    /// A host bundle cannot be encoded, or was taken and cannot be decoded.
    #[error("a host bundle cannot be written or read")]
    Bundle(#[from] BundleError),
    /// What surrounds a host bundle cannot be encoded.
    #[error("a host cannot be packed for a peer")]
    Encoding(#[from] postcard::Error),
    /// The thread cannot be started.
    #[error("the thread of the region cannot be started")]
    Thread(#[source] std::io::Error),
    /// The worker has ended after an error.
    #[error("the region is closed after an earlier error")]
    Closed,
}

impl PeersError {
    /// Whether a file of the data directory is damaged, so that another start does not help.
    pub fn is_damage(&self) -> bool {
        matches!(
            self,
            Self::Disk(PeersDiskError::Damaged { .. })
                | Self::Roster(_)
                | Self::Frontier(FrontierError::Damaged { .. })
        )
    }
}

/// What a visit may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Permission {
    /// The host is not the region's: the coordinator's lease decides.
    Outside,
    /// A request may start, and must end within this time.
    Within(Duration),
    /// No request may start now; ask again after this time.
    After(Duration),
}

/// What the worker's thread and the tasks share.
struct Shared {
    identity: Identity,
    core: Mutex<Option<Core>>,
    outgoing: Outgoing,
    host_addresses: Arc<HostAddresses>,
}

impl Shared {
    fn core(&self) -> MutexGuard<'_, Option<Core>> {
        lock(&self.core)
    }

    fn with_core<T>(&self, use_it: impl FnOnce(&mut Core) -> T) -> Option<T> {
        self.core().as_mut().map(use_it)
    }

    fn front(&self, host: HostPosition) -> Option<CrawlUrl> {
        self.host_addresses.front(host)
    }

    fn is_mine(&self, host: HostAtAddress) -> bool {
        let me = self.identity.agent;
        self.with_core(|core| core.member.destination(host) == Some(me)).unwrap_or(false)
    }
}

/// The agent as a member of a region.
pub struct Peers {
    shared: Arc<Shared>,
    rules: PeerRules,
    resolver: Arc<Resolver>,
    client: Arc<CoordinatorClient>,
    works: Sender<Vec<Work>>,
    failure: Mutex<Option<oneshot::Receiver<PeersError>>>,
    /// Notified when the member may have something to do earlier.
    changed: Notify,
    /// End of the sleep that was announced last; none while the agent works. A region that the
    /// agent joins later learns of the sleep by it.
    rests_until: Mutex<Option<Millis>>,
    /// Membership that ended before this process began.
    former: Option<FormerMembership>,
    /// Policy of the last run, for work before the coordinator answers.
    stored_policy: Option<CrawlPolicy>,
}

impl Peers {
    /// The operator's settings of the last run, with which a member may go on before the
    /// coordinator answers; none where it may not.
    pub fn stored_policy(&self) -> Option<CrawlPolicy> {
        self.stored_policy.filter(|_| self.may_work())
    }

    /// Keeps the operator's settings for the next start.
    pub fn keep_policy(&self, policy: CrawlPolicy) {
        self.work(vec![Work::Policy(Box::new(policy))]);
    }

    /// Whether the region lets this agent work, with or without a lease of the coordinator.
    pub fn may_work(&self) -> bool {
        let loan = self.shared.with_core(|core| core.loan_until());
        loan.is_some_and(|until| until > elapsed_clock::now())
    }

    /// Whether a request for this URL may start.
    pub async fn permission(&self, url: &CrawlUrl) -> Permission {
        if self.shared.core().is_none() {
            return Permission::Outside;
        }
        let Some(host) = self.shared.host_addresses.of(url, &self.resolver).await else {
            return Permission::Outside;
        };
        let permit = self.shared.with_core(|core| {
            let (permit, works) = core.permit(url, host);
            // Under the lock, so that works are in the member's order.
            self.work(works);
            permit
        });
        // A question may start the recovery of a host.
        self.changed.notify_one();
        match permit {
            None | Some(Permit::Denied(Denial::NotOfRegion)) => Permission::Outside,
            Some(Permit::Until(end)) => {
                Permission::Within(Duration::from_millis(end.since(elapsed_clock::now())))
            }
            Some(Permit::Denied(denial)) => Permission::After(pause_after(denial)),
        }
    }

    /// Whether [`Self::share`] of these URLs waits for a name server.
    pub fn must_look_up(&self, urls: &[CrawlUrl]) -> bool {
        self.shared.core().is_some()
            && urls
                .iter()
                .any(|url| self.shared.host_addresses.needs_lookup(url, host_addresses::OF_LINK))
    }

    /// Gives each link whose host is the region's to the agent of that host; returns the others.
    /// When this returns, what was given is stored. `depth` and `redirects` are those of the links.
    pub async fn share(
        &self,
        urls: Vec<CrawlUrl>,
        depth: u16,
        redirects: u8,
    ) -> Result<Vec<CrawlUrl>, PeersError> {
        if urls.is_empty() || self.shared.core().is_none() {
            return Ok(urls);
        }
        self.shared
            .host_addresses
            .resolve_all(&urls, host_addresses::OF_LINK, &self.resolver)
            .await;
        let mut foreign = Vec::new();
        for url in urls {
            let link = Link { url, depth, redirects };
            if !self.offer(&link).await {
                foreign.push(link.url);
            }
        }
        self.stored().await?;
        self.changed.notify_one();
        Ok(foreign)
    }

    /// Offers one link; false where its host is not the region's.
    async fn offer(&self, link: &Link) -> bool {
        let Some(host) = self.shared.host_addresses.known(&link.url) else { return false };
        loop {
            if let Some(is_settled) = self.try_offer(link, host) {
                return is_settled;
            }
            tokio::time::sleep(FULL).await;
        }
    }

    /// As [`Self::offer`]; none while too many URLs wait.
    fn try_offer(&self, link: &Link, host: HostAtAddress) -> Option<bool> {
        let mut core = self.shared.core();
        let Some(core) = core.as_mut() else { return Some(false) };
        let (is_settled, works) = core.offer(link, host)?;
        // Under the lock, so that works are in the member's order.
        self.work(works);
        Some(is_settled)
    }

    /// Gives routes of the coordinator to the agents of their hosts; returns those of hosts that
    /// are not the region's.
    pub async fn share_routes(&self, routes: Vec<Route>) -> Result<Vec<Route>, PeersError> {
        let parsed = |route: &Route| CrawlUrl::parse(&route.url).ok();
        let urls: Vec<CrawlUrl> = routes.iter().filter_map(parsed).collect();
        if self.shared.core().is_none() {
            return Ok(routes);
        }
        self.shared
            .host_addresses
            .resolve_all(&urls, host_addresses::OF_FETCH, &self.resolver)
            .await;
        let mut left = Vec::new();
        for route in routes {
            let link = parsed(&route).map(|url| Link { url, depth: 0, redirects: route.redirects });
            let is_shared = match link {
                Some(link) => self.offer(&link).await,
                None => false,
            };
            if !is_shared {
                left.push(route);
            }
        }
        self.stored().await?;
        self.changed.notify_one();
        Ok(left)
    }

    /// A URL was fetched, and the outcome is stored.
    pub fn fetched(&self, url: &CrawlUrl) {
        let Some(host) = self.shared.host_addresses.known(url) else { return };
        self.shared.with_core(|core| core.fetched(url.clone(), host));
        self.changed.notify_one();
    }

    /// Announces a sleep, or its end.
    pub fn set_asleep(&self, sleeps: Option<Duration>) {
        let now = elapsed_clock::now();
        let ms = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let for_ms = sleeps.map(ms);
        // Set before the member learns of it, so that a member that joins meanwhile finds it as
        // well.
        *lock(&self.rests_until) = for_ms.map(|for_ms| now.plus(for_ms));
        self.shared.with_core(|core| match for_ms {
            Some(for_ms) => core.member.sleep(for_ms, now),
            None => core.member.wake(now),
        });
        self.changed.notify_one();
    }

    /// When the agent works again, as it was announced last; none while it works.
    fn rests_until(&self) -> Option<Millis> {
        *lock(&self.rests_until)
    }

    /// Whether an agent that leaves may still have to return hosts to other agents.
    pub fn has_hosts_to_return(&self) -> bool {
        // Hosts are returned only after the other members know that this one leaves.
        let has_to = |core: &mut Core| core.member.has_hosts_to_return();
        let is_announced = self.rests_until().is_some();
        self.shared.with_core(has_to).is_some_and(|has_hosts| has_hosts || !is_announced)
    }

    fn listens(&self) -> bool {
        !self.rules.advertise.is_empty()
    }

    fn work(&self, works: Vec<Work>) {
        if !works.is_empty() {
            // Fails only after the worker's error, which ends the agent.
            let _ = self.works.send(works);
        }
    }

    /// Waits until everything before is stored.
    async fn stored(&self) -> Result<(), PeersError> {
        let (stored, done) = oneshot::channel();
        self.work(vec![Work::Stored(stored)]);
        done.await.map_err(|_| PeersError::Closed)
    }
}

/// When a permit may be there after a refusal.
fn pause_after(denial: Denial) -> Duration {
    match denial {
        Denial::Recovering => Duration::from_millis(500),
        Denial::Unknown | Denial::NoLease | Denial::NoLoan => Duration::from_secs(1),
        Denial::NotOwner | Denial::NotOfRegion => Duration::from_secs(5),
        Denial::Asleep => Duration::from_secs(30),
    }
}
