//! Delivery queue: messages that wait for one peer. Bundles wait apart: on a slow line they take
//! minutes, and a peer whose heartbeats come late counts as dead.

use region::{Message, Peer};
use tokio::sync::mpsc;

/// Messages of either kind that may wait; what comes then is lost.
const LENGTH: usize = 4_000;

/// A message with its receiver, who may collect it at the peer.
type Addressed = (Peer, Message);

/// The end at which messages are put.
pub(super) struct DeliveryQueue {
    others: mpsc::Sender<Addressed>,
    bundles: mpsc::Sender<Addressed>,
}

/// The messages that wait.
pub(super) struct Queued {
    others: mpsc::Receiver<Addressed>,
    bundles: mpsc::Receiver<Addressed>,
}

/// An empty queue.
pub(super) fn delivery_queue() -> (DeliveryQueue, Queued) {
    let (others, other_messages) = mpsc::channel(LENGTH);
    let (bundles, waiting_bundles) = mpsc::channel(LENGTH);
    let queued = Queued { others: other_messages, bundles: waiting_bundles };
    (DeliveryQueue { others, bundles }, queued)
}

impl DeliveryQueue {
    /// Adds a message. A full queue belongs to a peer that cannot be reached; its messages are
    /// repeated.
    pub(super) fn push(&self, to: Peer, message: Message) {
        let queue = if is_bundle(&message) { &self.bundles } else { &self.others };
        drop(queue.try_send((to, message)));
    }
}

impl Queued {
    /// The next message, bundles last; none once nothing more can come.
    pub(super) async fn next(&mut self) -> Option<Addressed> {
        tokio::select! {
            biased;
            Some(next) = self.others.recv() => Some(next),
            Some(next) = self.bundles.recv() => Some(next),
            else => None,
        }
    }

    /// A bundle that waits, or another message that does.
    pub(super) fn another(&mut self, bundle: bool) -> Option<Addressed> {
        let queue = if bundle { &mut self.bundles } else { &mut self.others };
        queue.try_recv().ok()
    }
}

pub(super) fn is_bundle(message: &Message) -> bool {
    matches!(message, Message::Bundle(_))
}

#[cfg(test)]
mod tests {
    use model::{AgentId, CrawlUrl};
    use region::{HostAtAddress, HostPosition, message::Bundle};

    use super::*;

    fn bundle() -> Message {
        let front = CrawlUrl::parse("http://h.example/").unwrap();
        let position = HostPosition::of(front.host_key_str());
        let host = HostAtAddress { position, address: [10, 0, 0, 1].into() };
        Message::Bundle(Bundle { number: 1, is_copy: false, host, front, bytes: vec![] })
    }

    #[tokio::test]
    async fn bundles_let_other_messages_go_first() {
        let (queue, mut queued) = delivery_queue();
        let to = Peer::Agent(AgentId::new(2));
        queue.push(to, bundle());
        queue.push(to, bundle());
        queue.push(to, Message::UrlsTaken(1));
        queue.push(to, Message::UrlsTaken(2));
        assert_eq!(queued.next().await, Some((to, Message::UrlsTaken(1))));
        assert_eq!(queued.another(false), Some((to, Message::UrlsTaken(2))));
        assert_eq!(queued.another(false), None, "a bundle would delay them");
        assert_eq!(queued.next().await, Some((to, bundle())));
        assert_eq!(queued.another(true), Some((to, bundle())));
        drop(queue);
        assert_eq!(queued.next().await, None);
    }
}
