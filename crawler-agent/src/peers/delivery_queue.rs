//! Delivery queue: messages that wait for one peer. Bundles wait apart: on a slow line they take
//! minutes, and a peer whose heartbeats come late counts as dead.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use region::{Message, Peer, message::Lane};
use tokio::sync::mpsc;

/// Messages of either lane that may wait; what comes then is lost.
const LENGTH: usize = 4_000;
/// Bytes of messages of either lane beyond which no further one may wait.
const BYTES: usize = 8 << 20;
/// Memory of a message, and of each URL in it, besides its texts, about.
const ITEM_BYTES: usize = 200;

/// A message with its receiver, which may collect it at the peer.
type Addressed = (Peer, Message);

/// The end at which messages are put.
pub(super) struct DeliveryQueue {
    others: QueueSender,
    bundles: QueueSender,
}

/// The messages that wait.
pub(super) struct Queued {
    pub(super) others: Queue,
    pub(super) bundles: Queue,
}

/// The end at which messages of one lane are put.
struct QueueSender {
    messages: mpsc::Sender<Addressed>,
    bytes: Arc<AtomicUsize>,
}

/// The messages of one lane that wait.
pub(super) struct Queue {
    messages: mpsc::Receiver<Addressed>,
    /// Their bytes, about.
    bytes: Arc<AtomicUsize>,
}

/// An empty queue.
pub(super) fn delivery_queue() -> (DeliveryQueue, Queued) {
    let (others, other_messages) = queue();
    let (bundles, waiting_bundles) = queue();
    let queued = Queued { others: other_messages, bundles: waiting_bundles };
    (DeliveryQueue { others, bundles }, queued)
}

fn queue() -> (QueueSender, Queue) {
    let (sender, messages) = mpsc::channel(LENGTH);
    let bytes = Arc::<AtomicUsize>::default();
    (QueueSender { messages: sender, bytes: Arc::clone(&bytes) }, Queue { messages, bytes })
}

impl DeliveryQueue {
    /// Adds a message. A full queue belongs to a peer that cannot be reached, or to a slow line;
    /// its messages are repeated.
    pub(super) fn push(&self, to: Peer, message: Message) {
        let queue = match message.lane() {
            Lane::Others => &self.others,
            Lane::Bundles => &self.bundles,
        };
        queue.push(to, message);
    }
}

impl QueueSender {
    /// Adds a message where there is room. One is taken in any case, however large it is.
    fn push(&self, to: Peer, message: Message) {
        let size = size(&message);
        if self.bytes.fetch_add(size, Ordering::Relaxed) < BYTES
            && self.messages.try_send((to, message)).is_ok()
        {
            return;
        }
        self.bytes.fetch_sub(size, Ordering::Relaxed);
    }
}

impl Queue {
    /// The next message; none once nothing more can come.
    pub(super) async fn next(&mut self) -> Option<Addressed> {
        let next = self.messages.recv().await;
        self.taken(next)
    }

    /// Another message that waits.
    pub(super) fn another(&mut self) -> Option<Addressed> {
        let next = self.messages.try_recv().ok();
        self.taken(next)
    }

    fn taken(&self, next: Option<Addressed>) -> Option<Addressed> {
        if let Some((_, message)) = &next {
            self.bytes.fetch_sub(size(message), Ordering::Relaxed);
        }
        next
    }
}

/// Bytes of a message in memory, about. Only bundles and URLs are many or large.
fn size(message: &Message) -> usize {
    let content = match message {
        Message::Bundle(bundle) => bundle.bytes.len(),
        Message::Urls(batch) => {
            batch.urls.iter().map(|url| url.url.as_str().len() + ITEM_BYTES).sum()
        }
        Message::BundleRequest(hosts) | Message::NoBundle(hosts) => size_of_val(hosts.as_slice()),
        _ => 0,
    };
    content + ITEM_BYTES
}

#[cfg(test)]
mod tests {
    use model::{AgentId, CrawlUrl};
    use region::{HostAtAddress, HostPosition, message::Bundle};

    use super::*;

    const TO: Peer = Peer::Agent(AgentId::new(2));

    fn bundle(bytes: usize) -> Message {
        let front = CrawlUrl::parse("http://h.example/").unwrap();
        let position = HostPosition::of(front.host_key_str());
        let host = HostAtAddress { position, address: [10, 0, 0, 1].into() };
        Message::Bundle(Bundle { number: 1, is_copy: false, host, front, bytes: vec![0; bytes] })
    }

    #[tokio::test]
    async fn bundles_wait_apart_from_other_messages() {
        let (queue, Queued { mut others, mut bundles }) = delivery_queue();
        queue.push(TO, bundle(1));
        queue.push(TO, Message::UrlsTaken(1));
        queue.push(TO, bundle(1));
        queue.push(TO, Message::UrlsTaken(2));
        assert_eq!(others.next().await, Some((TO, Message::UrlsTaken(1))));
        assert_eq!(others.another(), Some((TO, Message::UrlsTaken(2))));
        assert_eq!(others.another(), None, "a bundle would delay them");
        assert_eq!(bundles.next().await, Some((TO, bundle(1))));
        assert_eq!(bundles.another(), Some((TO, bundle(1))));
        drop(queue);
        assert_eq!(others.next().await, None);
        assert_eq!(bundles.next().await, None);
    }

    #[tokio::test]
    async fn messages_that_wait_are_bounded_by_their_bytes() {
        let (queue, Queued { mut others, mut bundles }) = delivery_queue();
        for _ in 0..100 {
            queue.push(TO, bundle(1 << 20));
        }
        queue.push(TO, Message::UrlsTaken(1));
        assert!(others.another().is_some(), "they have room of their own");
        let mut waiting = 0;
        while bundles.another().is_some() {
            waiting += 1;
        }
        assert_eq!(waiting, 8);
        queue.push(TO, bundle(9 << 20));
        queue.push(TO, bundle(1));
        assert!(bundles.another().is_some(), "one is taken in any case");
        assert!(bundles.another().is_none());
        queue.push(TO, bundle(1));
        assert!(bundles.another().is_some(), "what was taken leaves room");
    }
}
