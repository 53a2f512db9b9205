//! Opening: what a former process stored, and the start of the worker.

use std::{
    path::Path,
    sync::{Arc, Mutex},
};

use model::{AgentId, CrawlPolicy};
use protocol::key::{AgentKey, PublicKey};
use region::member::Identity;
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;

use super::{
    Peers, PeersError, Shared,
    core::Core,
    disk::PeersDisk,
    host_addresses::HostAddresses,
    membership_end,
    outgoing::Outgoing,
    worker::{Work, Worker},
};
use crate::{
    clock, config::Config, coordinator_client::CoordinatorClient, frontier::FrontierHandle,
    outbox::PackTrigger, resolve::Resolver, schedule::Schedule,
};

/// Who the agent is.
pub struct PeerIdentity {
    /// Identifier that the coordinator gave it.
    pub agent: AgentId,
    /// Key that signs its messages.
    pub key: Arc<AgentKey>,
    /// Key that signs rosters.
    pub coordinator_key: PublicKey,
}

/// The parts of the crawl that the region uses.
pub struct PeerCrawl {
    /// Queues of hosts.
    pub store: FrontierHandle,
    /// When each host is due.
    pub schedule: Arc<Schedule>,
    /// Finds addresses and checks them with the guard.
    pub resolver: Arc<Resolver>,
    /// Tells the outbox of new results.
    pub pack_trigger: Arc<PackTrigger>,
    /// The operator's settings.
    pub policy: watch::Receiver<CrawlPolicy>,
}

impl Peers {
    /// Opens what a former process stored in `dir`, and starts the worker; none where the owner
    /// wants no region. All tasks end when the token is cancelled. Call it inside a runtime.
    pub fn open(
        config: &Config,
        dir: &Path,
        identity: PeerIdentity,
        crawl: PeerCrawl,
        (client, stop): (Arc<CoordinatorClient>, CancellationToken),
    ) -> Result<Option<Arc<Self>>, PeersError> {
        let Some(rules) = config.peer.clone() else {
            membership_end::end(dir, &crawl.store)?;
            return Ok(None);
        };
        let disk = PeersDisk::open(dir)?;
        let PeerIdentity { agent, key, coordinator_key } = identity;
        let incarnation = disk.next_incarnation(clock::now())?;
        let identity = Identity { agent, coordinator: coordinator_key, incarnation };
        let host_addresses: Arc<HostAddresses> = Arc::default();
        let (core, works) = restore(identity, &disk, &host_addresses)?;
        let resolver = Arc::clone(&crawl.resolver);
        let outgoing = Outgoing::new(identity, key, (Arc::clone(&resolver), config.bind), stop);
        if let Some(core) = &core {
            outgoing.follow(core.view(), !rules.advertise.is_empty());
        }
        let (stored_policy, former) = match &core {
            Some(_) => (disk.policy()?, None),
            None => (None, disk.former_membership()?),
        };
        let shared =
            Arc::new(Shared { identity, core: Mutex::new(core), outgoing, host_addresses });
        let worker = Worker {
            noted: disk.note_counts()?,
            disk,
            store: crawl.store,
            schedule: crawl.schedule,
            pack_trigger: crawl.pack_trigger,
            policy: crawl.policy,
            host_delay: config.limits.host_delay,
            shared: Arc::clone(&shared),
        };
        let (sender, failure) = worker.start().map_err(PeersError::Thread)?;
        let peers = Arc::new(Self {
            shared,
            rules,
            resolver,
            client,
            works: sender,
            failure: Mutex::new(Some(failure)),
            changed: Notify::new(),
            rests_until: Mutex::default(),
            former,
            stored_policy,
        });
        peers.work(works);
        Ok(Some(peers))
    }
}

/// The member as a former process left it, and what it asks for first.
fn restore(
    identity: Identity,
    disk: &PeersDisk,
    host_addresses: &Arc<HostAddresses>,
) -> Result<(Option<Core>, Vec<Work>), PeersError> {
    let hosts = disk.hosts()?;
    for url in &hosts {
        host_addresses.set(&url.url, url.host);
    }
    let Some(membership) = disk.membership()? else { return Ok((None, Vec::new())) };
    let urls = (hosts.as_slice(), disk.waiting()?);
    let (core, works) = Core::restart(identity, membership, urls, Arc::clone(host_addresses))?;
    Ok((Some(core), works))
}
