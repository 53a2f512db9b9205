//! Envelopes that leave through the coordinator.

use std::sync::Mutex;

use region::{Peer, envelope::Envelope, mailbox::Mailbox};
use tokio::sync::Notify;

use crate::lock::lock;

/// Envelopes that leave through the coordinator, whoever their receivers are. Bundles leave apart,
/// so that no heartbeat waits for the end of one.
#[derive(Default)]
pub(super) struct CoordinatorQueue {
    others: WaitingEnvelopes,
    bundles: WaitingEnvelopes,
}

/// Envelopes of one kind. The oldest are lost where too many bytes wait.
#[derive(Default)]
pub(super) struct WaitingEnvelopes {
    waiting: Mutex<Mailbox>,
    arrived: Notify,
}

impl CoordinatorQueue {
    /// Adds an envelope.
    pub(super) fn push(&self, envelope: Envelope) {
        let is_bundle = envelope.header().is_some_and(|header| header.is_bundle);
        let queue = if is_bundle { &self.bundles } else { &self.others };
        queue.push(envelope);
    }

    /// Those without bundles, and those with bundles.
    pub(super) fn kinds(&self) -> [&WaitingEnvelopes; 2] {
        [&self.others, &self.bundles]
    }
}

impl WaitingEnvelopes {
    fn push(&self, envelope: Envelope) {
        self.with_waiting(|waiting| waiting.put(Peer::Coordinator, envelope));
        self.arrived.notify_one();
    }

    /// The first envelopes of about this many bytes, as soon as there are any.
    pub(super) async fn take(&self, bytes: usize) -> Vec<Envelope> {
        loop {
            let taken = self.with_waiting(|waiting| waiting.take(Peer::Coordinator, bytes));
            if !taken.is_empty() {
                return taken;
            }
            self.arrived.notified().await;
        }
    }

    fn with_waiting<T>(&self, use_them: impl FnOnce(&mut Mailbox) -> T) -> T {
        use_them(&mut lock(&self.waiting))
    }
}

#[cfg(test)]
mod tests {
    use model::{AgentId, CrawlUrl, RegionId};
    use protocol::key::AgentKey;
    use region::{
        HostAtAddress, HostPosition,
        envelope::{MESSAGE_BYTES, Sealer, SenderKey},
        message::{BUNDLE_BYTES, Bundle, Message},
    };

    use super::*;

    /// Bytes of one bundle.
    const SIZE: usize = 8 << 20;

    #[tokio::test]
    async fn bundles_that_wait_are_bounded_by_their_bytes() {
        let key = AgentKey::from_seed([1; 32]);
        let mut sealer = Sealer::new(RegionId::new(1), Peer::Agent(AgentId::new(1)), 1);
        let front = CrawlUrl::parse("http://h.example/").unwrap();
        let position = HostPosition::of(front.host_key_str());
        let host = HostAtAddress { position, address: [10, 0, 0, 1].into() };
        let bundle = Bundle { number: 1, is_copy: false, host, front, bytes: vec![0; SIZE] };
        let to = Peer::Agent(AgentId::new(2));
        let message = Message::Bundle(bundle);
        let envelope = sealer.seal(&SenderKey::Agent(&key), to, message).unwrap();
        let queue = CoordinatorQueue::default();
        for _ in 0..20 {
            queue.push(envelope.clone());
        }
        // Another message does not wait for them.
        let message = Message::UrlsTaken(1);
        queue.push(sealer.seal(&SenderKey::Agent(&key), to, message).unwrap());
        let [others, bundles] = queue.kinds();
        assert_eq!(others.take(1).await.len(), 1);
        let waiting = bundles.take(usize::MAX).await;
        let bytes = waiting.iter().map(Envelope::bytes).sum::<usize>();
        assert!((BUNDLE_BYTES..=2 * MESSAGE_BYTES).contains(&bytes), "{bytes}");
    }
}
