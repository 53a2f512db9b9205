//! Outgoing: how each envelope leaves.
//!
//! To a peer that listens: directly, and through the coordinator if that fails. To one that does
//! not: into this agent's own mailbox if it listens, else into that of the first member that does.
//! Through the coordinator if no member listens, or if the peer does not collect from that mailbox.

use std::{
    collections::BTreeMap,
    net::IpAddr,
    sync::{Arc, Mutex},
    time::Instant,
};

use model::{AgentId, RegionId};
use protocol::key::AgentKey;
use region::{
    Message, Peer,
    envelope::{Envelope, Sealer},
    member::Identity,
    message::Lane,
    ownership::View,
};
use tokio::{runtime::Handle, sync::Notify, task::JoinHandle};
use tokio_util::sync::CancellationToken;

use super::{
    coordinator_queue::{CoordinatorQueue, once_any},
    delivery::Delivery,
    delivery_queue::{DeliveryQueue, delivery_queue},
    kept::KeptEnvelopes,
    peer_client::PeerClient,
    signer::Signer,
};
use crate::{lock::lock, resolve::Resolver};

/// Ways to the other parties.
pub(super) struct Outgoing {
    signer: Arc<Signer>,
    me: AgentId,
    incarnation: u64,
    resolver: Arc<Resolver>,
    bind: Option<IpAddr>,
    runtime: Handle,
    stop: CancellationToken,
    ways: Mutex<Links>,
    coordinator: Arc<CoordinatorQueue>,
    kept: Mutex<KeptEnvelopes>,
    /// Notified when another envelope is kept.
    arrived: Notify,
}

#[derive(Default)]
struct Links {
    /// Members that listen, with their URLs.
    listeners: BTreeMap<AgentId, Vec<String>>,
    queues: BTreeMap<AgentId, DeliveryQueue>,
    /// Whether this agent keeps a mailbox for others.
    listens: bool,
}

impl Links {
    /// The member that gets what is for this party: itself if it listens, else the first that does,
    /// unless this agent keeps it. None where it goes another way.
    fn listener_for(&self, to: Peer) -> Option<AgentId> {
        let Peer::Agent(agent) = to else { return None };
        if self.listeners.contains_key(&agent) {
            return Some(agent);
        }
        let first = self.listeners.keys().next().copied();
        first.filter(|_| !self.listens)
    }
}

impl Outgoing {
    pub(super) fn new(
        identity: Identity,
        key: Arc<AgentKey>,
        (resolver, bind): (Arc<Resolver>, Option<IpAddr>),
        stop: CancellationToken,
    ) -> Self {
        Self {
            signer: Arc::new(Signer::new(key)),
            me: identity.agent,
            incarnation: identity.incarnation,
            resolver,
            bind,
            runtime: Handle::current(),
            stop,
            ways: Mutex::default(),
            coordinator: Arc::default(),
            kept: Mutex::default(),
            arrived: Notify::new(),
        }
    }

    /// Follows a roster.
    pub(super) fn follow(&self, view: &View, listens: bool) {
        let mut ways = lock(&self.ways);
        let roster = view.roster();
        ways.listens = listens;
        self.signer
            .use_sealer(|| Sealer::new(roster.region, Peer::Agent(self.me), self.incarnation));
        let others = roster.agents.iter().filter(|entry| entry.agent != self.me);
        let listeners: BTreeMap<AgentId, Vec<String>> = others
            .filter(|entry| !entry.addresses.is_empty())
            .map(|entry| (entry.agent, entry.addresses.clone()))
            .collect();
        // A peer that listens elsewhere now gets a new task.
        let former = std::mem::replace(&mut ways.listeners, listeners);
        let Links { listeners, queues, .. } = &mut *ways;
        queues.retain(|agent, _| listeners.get(agent) == former.get(agent));
    }

    /// Leaves the former region for another one. What waits for its members is lost. What a
    /// delivery has taken already is sent, and they refuse it.
    pub(super) fn enter(&self, region: RegionId) {
        lock(&self.ways).queues.clear();
        *lock(&self.kept) = KeptEnvelopes::default();
        self.signer.enter(region);
    }

    /// Sends a message on its way.
    pub(super) fn send(&self, to: Peer, message: Message) {
        let mut ways = lock(&self.ways);
        if let Some(listener) = ways.listener_for(to) {
            return self.deliver(&mut ways, listener, to, message);
        }
        let keeps = ways.listens && to != Peer::Coordinator;
        drop(ways);
        match self.signer.seal(to, message) {
            Some(envelope) if keeps => self.keep(to, envelope),
            Some(envelope) => self.coordinator.push(envelope),
            None => {}
        }
    }

    fn deliver(&self, ways: &mut Links, listener: AgentId, to: Peer, message: Message) {
        let Links { listeners, queues, .. } = ways;
        let queue = queues.entry(listener).or_insert_with(|| {
            let (queue, queued) = delivery_queue();
            let delivery = Delivery {
                addresses: listeners.get(&listener).cloned().unwrap_or_default(),
                client: self.client(),
                signer: Arc::clone(&self.signer),
                coordinator: Arc::clone(&self.coordinator),
            };
            self.spawn(delivery.run(queued));
            queue
        });
        queue.push(to, message);
    }

    /// Keeps an envelope for a receiver that collects here, or sends it through the coordinator.
    pub(super) fn keep(&self, to: Peer, envelope: Envelope) {
        match lock(&self.kept).put(to, envelope, Instant::now()) {
            Some(envelope) => self.coordinator.push(envelope),
            None => self.arrived.notify_waiters(),
        }
    }

    /// Envelopes in one lane that are kept for one peer, as soon as there are any.
    pub(super) async fn take_kept(&self, to: Peer, lane: Lane, bytes: usize) -> Vec<Envelope> {
        lock(&self.kept).note_request(to, Instant::now());
        once_any(&self.arrived, || lock(&self.kept).take(to, lane, bytes)).await
    }

    /// The members in whose mailboxes this agent's envelopes may be, with their URLs.
    pub(super) fn mailboxes(&self) -> BTreeMap<AgentId, Vec<String>> {
        match lock(&self.ways) {
            ways if ways.listens => BTreeMap::new(),
            ways => ways.listeners.clone(),
        }
    }

    /// A sealed message that asks a member for what its mailbox has.
    pub(super) fn collection_from(&self, agent: AgentId) -> Option<Vec<u8>> {
        let envelope = self.signer.seal(Peer::Agent(agent), Message::Collect)?;
        postcard::to_allocvec(&envelope).ok()
    }

    /// A client for the listener of one peer.
    pub(super) fn client(&self) -> PeerClient {
        PeerClient::new(Arc::clone(&self.resolver), self.bind)
    }

    /// Runs a task until the agent stops.
    pub(super) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) -> JoinHandle<()> {
        let stop = self.stop.clone();
        self.runtime.spawn(async move {
            stop.run_until_cancelled(task).await;
        })
    }

    /// Envelopes that leave through the coordinator.
    pub(super) fn for_coordinator(&self) -> &CoordinatorQueue {
        &self.coordinator
    }
}
