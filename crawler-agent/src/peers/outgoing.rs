//! Outgoing: how each envelope leaves.
//!
//! To a peer that listens: directly, and through the coordinator if that fails. To one that does
//! not: into this agent's own mailbox if it listens, else into that of the first member that does,
//! else through the coordinator.

use std::{
    collections::{BTreeMap, VecDeque},
    net::{IpAddr, SocketAddr},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use model::{AgentId, CrawlUrl};
use protocol::key::AgentKey;
use region::{
    Message, Peer,
    envelope::{Envelope, Sealer, SenderKey},
    mailbox::Mailbox,
    member::Identity,
    ownership::View,
    relay::{RELAY_BYTES, RELAY_FILL},
};
use reqwest::{Client, redirect::Policy};
use tokio::{
    runtime::Handle,
    sync::{Notify, mpsc},
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;

use super::listener::ENVELOPES;
use crate::{error_line, resolve::Resolver};

/// Envelopes that may wait for one peer; what comes then is lost.
const QUEUE: usize = 4_000;
/// Envelopes that may wait for the coordinator; the oldest are lost.
const COORDINATOR_QUEUE: usize = 4_000;
/// Time limit of one delivery, which may be a bundle on a slow line.
const DELIVERY: Duration = Duration::from_mins(1);
/// Time limit of a connection.
const CONNECT: Duration = Duration::from_secs(5);
/// Pause after a peer could not be reached.
pub(super) const PAUSE: Duration = Duration::from_secs(1);

/// Ways to the other parties.
pub(super) struct Outgoing {
    key: Arc<AgentKey>,
    me: AgentId,
    incarnation: u64,
    resolver: Arc<Resolver>,
    bind: Option<IpAddr>,
    runtime: Handle,
    stop: CancellationToken,
    ways: Mutex<Links>,
    coordinator: Arc<CoordinatorQueue>,
    mailbox: Mutex<Mailbox>,
    /// Notified when an envelope came into the mailbox.
    kept: Notify,
}

#[derive(Default)]
struct Links {
    sealer: Option<Sealer>,
    /// Members that listen, with their URLs.
    listeners: BTreeMap<AgentId, Vec<String>>,
    queues: BTreeMap<AgentId, mpsc::Sender<Envelope>>,
    /// Whether this agent keeps a mailbox for others.
    listens: bool,
}

#[derive(Default)]
struct CoordinatorQueue {
    waiting: Mutex<VecDeque<Envelope>>,
    arrived: Notify,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Outgoing {
    pub(super) fn new(
        identity: Identity,
        key: Arc<AgentKey>,
        (resolver, bind): (Arc<Resolver>, Option<IpAddr>),
        stop: CancellationToken,
    ) -> Self {
        Self {
            key,
            me: identity.agent,
            incarnation: identity.incarnation,
            resolver,
            bind,
            runtime: Handle::current(),
            stop,
            ways: Mutex::default(),
            coordinator: Arc::default(),
            mailbox: Mutex::default(),
            kept: Notify::new(),
        }
    }

    /// Follows a roster.
    pub(super) fn follow(&self, view: &View, listens: bool) {
        let mut ways = lock(&self.ways);
        let roster = view.roster();
        ways.listens = listens;
        ways.sealer.get_or_insert_with(|| {
            Sealer::new(roster.region, Peer::Agent(self.me), self.incarnation)
        });
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

    /// Seals a message and sends it on its way.
    pub(super) fn send(&self, to: Peer, message: Message) {
        let mut ways = lock(&self.ways);
        let Some(envelope) = self.seal(&mut ways, to, message) else { return };
        let Peer::Agent(agent) = to else {
            drop(ways);
            return self.coordinator.push(envelope);
        };
        if ways.listeners.contains_key(&agent) {
            return self.deliver(&mut ways, agent, envelope);
        }
        if ways.listens {
            drop(ways);
            return self.keep(to, envelope);
        }
        match ways.listeners.keys().next().copied() {
            Some(other) => self.deliver(&mut ways, other, envelope),
            None => self.coordinator.push(envelope),
        }
    }

    fn seal(&self, ways: &mut Links, to: Peer, message: Message) -> Option<Envelope> {
        ways.sealer.as_mut()?.seal(&SenderKey::Agent(&self.key), to, message)
    }

    fn deliver(&self, ways: &mut Links, agent: AgentId, envelope: Envelope) {
        let Links { listeners, queues, .. } = ways;
        let queue = queues.entry(agent).or_insert_with(|| {
            let (sender, coming) = mpsc::channel(QUEUE);
            let delivery = Delivery {
                addresses: listeners.get(&agent).cloned().unwrap_or_default(),
                client: PeerClient::new(self),
                coordinator: Arc::clone(&self.coordinator),
            };
            self.spawn(delivery.run(coming));
            sender
        });
        // A full queue belongs to a peer that cannot be reached; its messages are repeated.
        let _ = queue.try_send(envelope);
    }

    /// Keeps an envelope in the mailbox.
    pub(super) fn keep(&self, to: Peer, envelope: Envelope) {
        lock(&self.mailbox).put(to, envelope);
        self.kept.notify_waiters();
    }

    /// Envelopes of the mailbox for one peer, as soon as there are any.
    pub(super) async fn take_kept(&self, to: Peer, bytes: usize) -> Vec<Envelope> {
        loop {
            let kept = self.kept.notified();
            tokio::pin!(kept);
            // From here on nothing is missed.
            kept.as_mut().enable();
            let taken = lock(&self.mailbox).take(to, bytes);
            if !taken.is_empty() {
                return taken;
            }
            kept.await;
        }
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
        let envelope = self.seal(&mut lock(&self.ways), Peer::Agent(agent), Message::Collect)?;
        postcard::to_allocvec(&envelope).ok()
    }

    /// Runs a task until the agent stops.
    pub(super) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) -> JoinHandle<()> {
        let stop = self.stop.clone();
        self.runtime.spawn(async move {
            stop.run_until_cancelled(task).await;
        })
    }

    /// Envelopes that leave through the coordinator, as soon as there are any.
    pub(super) async fn for_coordinator(&self, bytes: usize) -> Vec<Envelope> {
        self.coordinator.take(bytes).await
    }
}

impl CoordinatorQueue {
    fn push(&self, envelope: Envelope) {
        let mut waiting = lock(&self.waiting);
        if waiting.len() >= COORDINATOR_QUEUE {
            waiting.pop_front();
        }
        waiting.push_back(envelope);
        drop(waiting);
        self.arrived.notify_one();
    }

    async fn take(&self, bytes: usize) -> Vec<Envelope> {
        loop {
            let taken = take(&mut lock(&self.waiting), bytes);
            if !taken.is_empty() {
                return taken;
            }
            self.arrived.notified().await;
        }
    }
}

/// The first envelopes, at least one if there is any, of about so many bytes.
fn take(waiting: &mut VecDeque<Envelope>, bytes: usize) -> Vec<Envelope> {
    let mut taken = Vec::new();
    let mut size = 0;
    while size < bytes
        && let Some(envelope) = waiting.pop_front()
    {
        size += envelope.bytes();
        taken.push(envelope);
    }
    taken
}

/// Deliveries to one peer that listens.
struct Delivery {
    addresses: Vec<String>,
    client: PeerClient,
    coordinator: Arc<CoordinatorQueue>,
}

impl Delivery {
    async fn run(self, mut coming: mpsc::Receiver<Envelope>) {
        while let Some(first) = coming.recv().await {
            let mut envelopes = vec![first];
            let mut bytes = envelopes.iter().map(Envelope::bytes).sum::<usize>();
            while bytes < RELAY_FILL
                && let Ok(next) = coming.try_recv()
            {
                bytes += next.bytes();
                envelopes.push(next);
            }
            let Ok(body) = postcard::to_allocvec(&envelopes) else { continue };
            if !self.deliver(body).await {
                for envelope in envelopes {
                    self.coordinator.push(envelope);
                }
                tokio::time::sleep(PAUSE).await;
            }
        }
    }

    async fn deliver(&self, body: Vec<u8>) -> bool {
        for address in &self.addresses {
            match self.client.post(address, ENVELOPES, body.clone(), DELIVERY).await {
                Ok(_) => return true,
                Err(error) => tracing::debug!(address, error, "a peer was not reached"),
            }
        }
        false
    }
}

/// Client of one peer's listener.
pub(super) struct PeerClient {
    resolver: Arc<Resolver>,
    bind: Option<IpAddr>,
    /// The last HTTP client, with the host and the sockets that it connects to.
    made: Mutex<Option<(Target, Client)>>,
}

/// A host, and its sockets as the guard saw them.
type Target = (String, Vec<SocketAddr>);

impl PeerClient {
    /// Posts to a path below a peer's URL. The guard has a say: the URL is another owner's word.
    pub(super) async fn post(
        &self,
        base: &str,
        path: &str,
        body: Vec<u8>,
        timeout: Duration,
    ) -> Result<Vec<u8>, String> {
        let url = CrawlUrl::parse(&format!("{}/{path}", base.trim_end_matches('/')));
        let url = url.map_err(|error| error.to_string())?;
        let addresses = self.resolver.addresses_of_peer(&url).await;
        let addresses = addresses.map_err(|error| error.to_string())?;
        let sockets: Vec<SocketAddr> =
            addresses.iter().map(|address| SocketAddr::new(*address, url.port())).collect();
        let client = self.client(&url, sockets).map_err(|error| error_line::of(&error))?;
        let answer = client.post(url.as_str()).timeout(timeout).body(body).send().await;
        let mut answer = answer.map_err(|error| error_line::of(&error))?;
        if !answer.status().is_success() {
            return Err(format!("status {}", answer.status()));
        }
        let mut content = Vec::new();
        while let Some(chunk) = answer.chunk().await.map_err(|error| error_line::of(&error))? {
            content.extend_from_slice(&chunk);
            if content.len() > RELAY_BYTES {
                return Err("the answer is too large".into());
            }
        }
        Ok(content)
    }
}

impl PeerClient {
    pub(super) fn new(outgoing: &Outgoing) -> Self {
        let resolver = Arc::clone(&outgoing.resolver);
        Self { resolver, bind: outgoing.bind, made: Mutex::default() }
    }

    /// A client that connects to these sockets only, kept for its connections. It knows the sockets
    /// of this host alone, and would look another one up without the guard.
    fn client(&self, url: &CrawlUrl, sockets: Vec<SocketAddr>) -> Result<Client, reqwest::Error> {
        let host = url.url().host_str().unwrap_or_default().to_owned();
        let target = (host, sockets);
        let mut made = lock(&self.made);
        if let Some((known, client)) = made.as_ref()
            && *known == target
        {
            return Ok(client.clone());
        }
        let client = Client::builder()
            .connect_timeout(CONNECT)
            .local_address(self.bind)
            .redirect(Policy::none())
            .no_proxy()
            .resolve_to_addrs(&target.0, &target.1)
            .build()?;
        *made = Some((target, client.clone()));
        Ok(client)
    }
}
