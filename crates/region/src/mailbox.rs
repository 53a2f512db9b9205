//! Mailbox: envelopes that wait until their receivers collect them.
//!
//! Parties that accept connections keep one for those that only open connections. It may lose
//! envelopes, as any message may be lost, so it is bounded and drops the oldest.

use std::collections::{BTreeMap, VecDeque};

use crate::envelope::{Envelope, MESSAGE_BYTES};
use crate::peer::Peer;

/// Most bytes that wait for one receiver: at least one bundle fits.
const BYTES: usize = 2 * MESSAGE_BYTES;
/// Most envelopes that wait for one receiver.
const ENVELOPES: usize = 10_000;

/// Envelopes by receiver, each in order of arrival.
#[derive(Debug, Clone, Default)]
pub struct Mailbox {
    queues: BTreeMap<Peer, Queue>,
}

#[derive(Debug, Clone, Default)]
struct Queue {
    waiting: VecDeque<Envelope>,
    bytes: usize,
}

impl Mailbox {
    /// Keeps an envelope for its receiver. The caller has checked that both ends are parties of the
    /// region: else a stranger could fill the memory.
    pub fn put(&mut self, to: Peer, envelope: Envelope) {
        let queue = self.queues.entry(to).or_default();
        queue.bytes += envelope.bytes();
        queue.waiting.push_back(envelope);
        while queue.bytes > BYTES || queue.waiting.len() > ENVELOPES {
            let Some(dropped) = queue.waiting.pop_front() else { break };
            queue.bytes -= dropped.bytes();
        }
    }

    /// The oldest envelopes for a receiver: at least one if any waits, up to about `bytes`.
    pub fn take(&mut self, to: Peer, bytes: usize) -> Vec<Envelope> {
        let Some(queue) = self.queues.get_mut(&to) else { return Vec::new() };
        let mut taken = Vec::new();
        let mut size = 0;
        while let Some(next) = queue.waiting.front() {
            size += next.bytes();
            if size > bytes && !taken.is_empty() {
                break;
            }
            queue.bytes -= next.bytes();
            taken.extend(queue.waiting.pop_front());
        }
        if queue.waiting.is_empty() {
            self.queues.remove(&to);
        }
        taken
    }

    /// Whether nothing waits for a receiver.
    pub fn is_empty(&self, to: Peer) -> bool {
        !self.queues.contains_key(&to)
    }
}

#[cfg(test)]
mod tests {
    use model::{AgentId, RegionId};
    use protocol::key::AgentKey;

    use super::*;
    use crate::envelope::{Sealer, SenderKey};
    use crate::message::Message;

    #[test]
    fn a_receiver_gets_its_own_envelopes_in_order_and_the_oldest_are_dropped() {
        let one = Peer::Agent(AgentId::new(1));
        let two = Peer::Agent(AgentId::new(2));
        let key = AgentKey::from_seed([1; 32]);
        let mut sealer = Sealer::new(RegionId::new(1), two, 1);
        let mut seal = |to, number| {
            sealer.seal(&SenderKey::Agent(&key), to, Message::UrlsTaken(number)).unwrap()
        };
        let mut mailbox = Mailbox::default();
        let first = seal(one, 1);
        let second = seal(one, 2);
        mailbox.put(one, first.clone());
        mailbox.put(one, second.clone());
        assert!(mailbox.take(two, usize::MAX).is_empty());
        assert_eq!(mailbox.take(one, 1), [first], "one at least");
        assert_eq!(mailbox.take(one, usize::MAX), [second]);
        assert!(mailbox.is_empty(one));
        for number in 0..=ENVELOPES as u64 {
            mailbox.put(one, seal(one, number));
        }
        assert_eq!(mailbox.take(one, usize::MAX).len(), ENVELOPES);
    }
}
