//! Envelopes that leave through the coordinator.

use std::sync::Mutex;

use region::{Peer, envelope::Envelope, mailbox::Mailbox, message::Lane};
use tokio::sync::Notify;

use crate::lock::lock;

/// Envelopes that leave through the coordinator, whoever their receivers are. Each lane leaves
/// apart. The oldest are lost where too many bytes wait.
#[derive(Default)]
pub(super) struct CoordinatorQueue {
    waiting: Mutex<Mailbox>,
    arrived: Notify,
}

impl CoordinatorQueue {
    /// Adds an envelope.
    pub(super) fn push(&self, envelope: Envelope) {
        lock(&self.waiting).put(Peer::Coordinator, envelope);
        self.arrived.notify_waiters();
    }

    /// The first envelopes of a lane, of about this many bytes, as soon as there are any.
    pub(super) async fn take(&self, lane: Lane, bytes: usize) -> Vec<Envelope> {
        let take = || lock(&self.waiting).take(Peer::Coordinator, lane, bytes);
        once_any(&self.arrived, take).await
    }
}

/// What `take` finds, as soon as there is any; `arrived` is notified when there may be more.
pub(super) async fn once_any(
    arrived: &Notify,
    mut take: impl FnMut() -> Vec<Envelope>,
) -> Vec<Envelope> {
    loop {
        let notified = arrived.notified();
        tokio::pin!(notified);
        // From here on nothing is missed.
        notified.as_mut().enable();
        let taken = take();
        if !taken.is_empty() {
            return taken;
        }
        notified.await;
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
        assert_eq!(queue.take(Lane::Others, 1).await.len(), 1);
        let waiting = queue.take(Lane::Bundles, usize::MAX).await;
        let bytes = waiting.iter().map(Envelope::bytes).sum::<usize>();
        assert!((BUNDLE_BYTES..=2 * MESSAGE_BYTES).contains(&bytes), "{bytes}");
    }
}
