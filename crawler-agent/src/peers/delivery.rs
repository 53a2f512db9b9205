//! Delivery: sends the envelopes of one peer to its listener, or through the coordinator.

use std::{
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use region::{envelope::Envelope, relay::RELAY_FILL};
use reqwest::StatusCode;

use super::{
    coordinator_queue::CoordinatorQueue,
    delivery_queue::{Queue, Queued},
    listener::ENVELOPES,
    peer_client::PeerClient,
    signer::Signer,
};
use crate::{backoff::Backoff, lock::lock};

/// Bytes of bundles after which no other joins a delivery, which shall be over in time.
const BUNDLE_FILL: usize = 128 << 10;
/// Time limit of one delivery, which may be a bundle on a slow line.
const DELIVERY: Duration = Duration::from_mins(1);
/// Longest pause after a peer could not be reached.
pub(super) const MOST_PAUSE: Duration = Duration::from_secs(15);

/// Deliveries to one peer that listens.
pub(super) struct Delivery {
    pub(super) addresses: Vec<String>,
    pub(super) client: PeerClient,
    pub(super) signer: Arc<Signer>,
    pub(super) coordinator: Arc<CoordinatorQueue>,
}

impl Delivery {
    /// Delivers what comes, until the sender is gone. Bundles take connections of their own: a
    /// heartbeat that waited for the end of a large one would come too late.
    pub(super) async fn run(self, queued: Queued) {
        let attempts = Mutex::default();
        let Queued { others, bundles } = queued;
        tokio::join!(
            self.deliver_all(others, RELAY_FILL, &attempts),
            self.deliver_all(bundles, BUNDLE_FILL, &attempts),
        );
    }

    /// Delivers messages of one lane, about `fill` bytes at a time.
    async fn deliver_all(&self, mut queue: Queue, fill: usize, attempts: &Mutex<Attempts>) {
        while let Some(first) = queue.next().await {
            let mut envelopes = Vec::new();
            let mut bytes = 0;
            let mut next = Some(first);
            while let Some((to, message)) = next {
                let envelope = self.signer.seal(to, message);
                bytes += envelope.as_ref().map_or(0, Envelope::bytes);
                envelopes.extend(envelope);
                next = if bytes < fill { queue.another() } else { None };
            }
            let are_due = lock(attempts).are_due(Instant::now());
            if are_due {
                let Ok(body) = postcard::to_allocvec(&envelopes) else { continue };
                if self.deliver(body).await {
                    *lock(attempts) = Attempts::default();
                    continue;
                }
                lock(attempts).fail(Instant::now(), rand::random());
            }
            for envelope in envelopes {
                self.coordinator.push(envelope);
            }
        }
    }

    async fn deliver(&self, body: Vec<u8>) -> bool {
        for address in &self.addresses {
            let request = (body.clone(), StatusCode::NO_CONTENT);
            match self.client.post(address, ENVELOPES, request, DELIVERY).await {
                Ok(_) => return true,
                Err(error) => tracing::debug!(address, error, "a peer was not reached"),
            }
        }
        false
    }
}

/// When a peer that could not be reached is tried again. Its addresses are another owner's word:
/// the machine behind them may be of somebody who is no peer.
#[derive(Debug, Default)]
struct Attempts {
    backoff: Backoff,
    /// Not before this; none after a success.
    retry_at: Option<Instant>,
}

impl Attempts {
    fn are_due(&self, now: Instant) -> bool {
        self.retry_at.is_none_or(|retry_at| now >= retry_at)
    }

    fn fail(&mut self, now: Instant, chance: f64) {
        self.retry_at = Some(now + self.backoff.next(chance).min(MOST_PAUSE));
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use model::{AgentId, CrawlUrl, RegionId};
    use protocol::key::AgentKey;
    use region::{
        HostAtAddress, HostPosition, Message, Peer,
        envelope::Sealer,
        message::{Bundle, Lane},
    };
    use tokio::sync::mpsc;

    use super::*;
    use crate::{
        guard::{AddressSet, Guard, GuardRules},
        peers::delivery_queue::delivery_queue,
        resolve::Resolver,
    };

    /// A server that answers everything with this status, and tells of each request.
    async fn server(status: StatusCode) -> (SocketAddr, mpsc::Receiver<()>) {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (asked, requests) = mpsc::channel(9);
        let app = axum::Router::new().fallback(async move || {
            asked.send(()).await.unwrap();
            status
        });
        tokio::spawn(async move { drop(axum::serve(listener, app).await) });
        (address, requests)
    }

    fn client_of(port: u16) -> PeerClient {
        let rules = GuardRules::new(&["127.0.0.0/8".parse().unwrap()], &[], vec![], vec![port]);
        let guard = Guard::new(Arc::new(rules), AddressSet::default());
        PeerClient::new(Arc::new(Resolver::new(&[], None, guard, 100).unwrap()), None)
    }

    fn signer() -> Signer {
        let signer = Signer::new(AgentKey::from_seed([1; 32]).into());
        signer.use_sealer(|| Sealer::new(RegionId::new(1), Peer::Agent(AgentId::new(1)), 1));
        signer
    }

    #[tokio::test]
    async fn only_a_listener_takes_envelopes_and_others_get_few() {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let to = Peer::Agent(AgentId::new(2));
        for status in [StatusCode::OK, StatusCode::NO_CONTENT] {
            let (address, mut requests) = server(status).await;
            let coordinator = Arc::<CoordinatorQueue>::default();
            let delivery = delivery_to(address, &coordinator);
            let (queue, queued) = delivery_queue();
            let running = tokio::spawn(delivery.run(queued));
            let is_listener = status == StatusCode::NO_CONTENT;
            let same = signer();
            for number in 1..=2 {
                queue.push(to, Message::UrlsTaken(number));
                let sent = same.seal(to, Message::UrlsTaken(number)).unwrap();
                if is_listener {
                    requests.recv().await.unwrap();
                } else {
                    assert_eq!(coordinator.take(Lane::Others, 1).await, [sent]);
                }
            }
            drop(queue);
            running.await.unwrap();
            let mut more = 0;
            while requests.try_recv().is_ok() {
                more += 1;
            }
            assert_eq!(more, u32::from(!is_listener), "one request before the pause");
        }
    }

    fn delivery_to(address: SocketAddr, coordinator: &Arc<CoordinatorQueue>) -> Delivery {
        Delivery {
            addresses: vec![format!("http://{address}")],
            client: client_of(address.port()),
            signer: Arc::new(signer()),
            coordinator: Arc::clone(coordinator),
        }
    }

    #[tokio::test]
    async fn other_messages_do_not_wait_for_the_end_of_a_bundle() {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let to = Peer::Agent(AgentId::new(2));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (asked, mut requests) = mpsc::channel(9);
        let app = axum::Router::new().fallback(async move || {
            asked.send(()).await.unwrap();
            std::future::pending::<StatusCode>().await
        });
        tokio::spawn(async move { drop(axum::serve(listener, app).await) });
        let (queue, queued) = delivery_queue();
        tokio::spawn(delivery_to(address, &Arc::default()).run(queued));
        let front = CrawlUrl::parse("http://h.example/").unwrap();
        let position = HostPosition::of(front.host_key_str());
        let host = HostAtAddress { position, address: [10, 0, 0, 1].into() };
        let bundle = Bundle { number: 1, is_copy: false, host, front, bytes: vec![] };
        queue.push(to, Message::Bundle(bundle));
        requests.recv().await.unwrap();
        queue.push(to, Message::UrlsTaken(1));
        requests.recv().await.unwrap();
    }

    #[test]
    fn a_peer_that_is_not_reached_is_tried_at_growing_intervals() {
        let mut attempts = Attempts::default();
        let mut now = Instant::now();
        let mut pauses = Vec::new();
        for _ in 0..7 {
            assert!(attempts.are_due(now));
            attempts.fail(now, 1.0);
            let is_over = |half: &u32| attempts.are_due(now + *half * MOST_PAUSE / 30);
            let pause = (0..99).find(is_over).unwrap();
            pauses.push(pause);
            now += pause * MOST_PAUSE / 30;
        }
        assert_eq!(pauses, [1, 2, 4, 8, 16, 30, 30], "in half seconds");
    }
}
