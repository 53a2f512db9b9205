//! Mailbox: envelopes that wait until their receivers collect them.
//!
//! Parties that accept connections keep one for those that only open connections. It may lose
//! envelopes, as any message may be lost, so it is bounded: a sender that leaves too many loses its
//! own oldest ones, and not those that others have left. Receivers collect each lane apart.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound::{Excluded, Unbounded};

use crate::envelope::{Envelope, Header, MESSAGE_BYTES};
use crate::message::Lane;
use crate::peer::Peer;

/// Most bytes that one sender has waiting for one receiver in a lane, and most of all in the
/// mailbox of an agent: at least one bundle fits.
const BYTES: usize = 2 * MESSAGE_BYTES;
/// Most bytes of all in the mailbox of the coordinator, for one region.
const COORDINATOR_BYTES: usize = 4 * MESSAGE_BYTES;
/// Most envelopes that one sender has waiting for one receiver in a lane.
const ENVELOPES: usize = 10_000;

/// Envelopes by receiver, lane and sender. Those of one sender are in order of arrival.
#[derive(Debug, Clone)]
pub struct Mailbox {
    receivers: BTreeMap<(Peer, Lane), Receiver>,
    /// Bytes that each sender has waiting.
    sent: BTreeMap<Peer, usize>,
    bytes: usize,
    most_bytes: usize,
}

#[derive(Debug, Clone, Default)]
struct Receiver {
    queues: BTreeMap<Peer, Queue>,
    /// The sender whose envelope was taken last: each has its turn.
    last: Option<Peer>,
}

#[derive(Debug, Clone, Default)]
struct Queue {
    waiting: VecDeque<Envelope>,
    bytes: usize,
}

impl Default for Mailbox {
    /// The mailbox of an agent.
    fn default() -> Self {
        Self::with_most_bytes(BYTES)
    }
}

impl Mailbox {
    /// The coordinator's mailbox for one region.
    pub fn of_coordinator() -> Self {
        Self::with_most_bytes(COORDINATOR_BYTES)
    }

    fn with_most_bytes(most_bytes: usize) -> Self {
        Self { receivers: BTreeMap::new(), sent: BTreeMap::new(), bytes: 0, most_bytes }
    }

    /// Keeps an envelope for its receiver. The caller has checked that sender and receiver are
    /// parties of the region; otherwise anyone could fill the memory.
    pub fn put(&mut self, to: Peer, envelope: Envelope) {
        let Some(Header { from, lane, .. }) = envelope.header() else { return };
        let to = (to, lane);
        let bytes = envelope.bytes();
        let queue = self.receivers.entry(to).or_default().queues.entry(from).or_default();
        queue.bytes += bytes;
        queue.waiting.push_back(envelope);
        self.bytes += bytes;
        *self.sent.entry(from).or_default() += bytes;
        while self.is_full(to, from) {
            self.pop(to, from);
        }
        while self.bytes > self.most_bytes {
            let Some((to, from)) = self.largest() else { break };
            self.pop(to, from);
        }
    }

    /// The oldest envelopes for a receiver in one lane, of its senders in turn: at least one if any
    /// waits, up to about `bytes`.
    pub fn take(&mut self, to: Peer, lane: Lane, bytes: usize) -> Vec<Envelope> {
        let to = (to, lane);
        let mut taken = Vec::new();
        let mut size = 0;
        while let Some((from, next)) = self.receivers.get(&to).and_then(Receiver::next) {
            size += next;
            if size > bytes && !taken.is_empty() {
                break;
            }
            if let Some(receiver) = self.receivers.get_mut(&to) {
                receiver.last = Some(from);
            }
            taken.extend(self.pop(to, from));
        }
        taken
    }

    /// Whether nothing waits for a receiver.
    pub fn is_empty(&self, to: Peer) -> bool {
        Lane::ALL.iter().all(|lane| !self.receivers.contains_key(&(to, *lane)))
    }

    /// Drops what waits for receivers that do not collect any more.
    pub fn retain(&mut self, collects: impl Fn(Peer) -> bool) {
        let receivers = self.receivers.keys().copied();
        let gone: Vec<(Peer, Lane)> = receivers.filter(|(to, _)| !collects(*to)).collect();
        for (to, lane) in gone {
            drop(self.take(to, lane, usize::MAX));
        }
    }

    /// Whether one sender has more waiting for one receiver in a lane than it may.
    fn is_full(&self, to: (Peer, Lane), from: Peer) -> bool {
        let queue = self.receivers.get(&to).and_then(|receiver| receiver.queues.get(&from));
        queue.is_some_and(|queue| queue.bytes > BYTES || queue.waiting.len() > ENVELOPES)
    }

    /// The largest queue of the sender that has most bytes waiting.
    fn largest(&self) -> Option<((Peer, Lane), Peer)> {
        let (from, _) = self.sent.iter().max_by_key(|(_, bytes)| **bytes)?;
        let queues = self.receivers.iter().filter_map(|(to, receiver)| {
            let queue = receiver.queues.get(from)?;
            Some((*to, queue.bytes))
        });
        queues.max_by_key(|(_, bytes)| *bytes).map(|(to, _)| (to, *from))
    }

    /// The oldest envelope of a sender for a receiver in a lane.
    fn pop(&mut self, to: (Peer, Lane), from: Peer) -> Option<Envelope> {
        let receiver = self.receivers.get_mut(&to)?;
        let queue = receiver.queues.get_mut(&from)?;
        let envelope = queue.waiting.pop_front()?;
        let bytes = envelope.bytes();
        queue.bytes -= bytes;
        if queue.waiting.is_empty() {
            receiver.queues.remove(&from);
        }
        if receiver.queues.is_empty() {
            self.receivers.remove(&to);
        }
        self.bytes -= bytes;
        if let Some(sent) = self.sent.get_mut(&from) {
            *sent -= bytes;
            if *sent == 0 {
                self.sent.remove(&from);
            }
        }
        Some(envelope)
    }
}

impl Receiver {
    /// The sender whose turn it is, and the size of its oldest envelope.
    fn next(&self) -> Option<(Peer, usize)> {
        let after = self.last.map_or(Unbounded, Excluded);
        let next = self.queues.range((after, Unbounded)).next();
        let (from, queue) = next.or_else(|| self.queues.first_key_value())?;
        queue.waiting.front().map(|envelope| (*from, envelope.bytes()))
    }
}

#[cfg(test)]
mod tests {
    use model::{AgentId, CrawlUrl, RegionId};
    use protocol::key::AgentKey;

    use super::*;
    use crate::envelope::{Sealer, SenderKey};
    use crate::message::{Bundle, Message};
    use crate::ownership::{HostAtAddress, HostPosition};

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
        assert!(take_others(&mut mailbox, two, usize::MAX).is_empty());
        assert_eq!(take_others(&mut mailbox, one, 1), [first], "one at least");
        assert_eq!(take_others(&mut mailbox, one, usize::MAX), [second]);
        assert!(mailbox.is_empty(one));
        for number in 0..=ENVELOPES as u64 {
            mailbox.put(one, seal(one, number));
        }
        assert_eq!(take_others(&mut mailbox, one, usize::MAX).len(), ENVELOPES);
    }

    /// What waits for a receiver beside bundles.
    fn take_others(mailbox: &mut Mailbox, to: Peer, bytes: usize) -> Vec<Envelope> {
        mailbox.take(to, Lane::Others, bytes)
    }

    fn agent(number: i64) -> Peer {
        Peer::Agent(AgentId::new(number))
    }

    fn sealer(from: Peer) -> impl FnMut(Peer, Message) -> Envelope {
        let key = AgentKey::from_seed([1; 32]);
        let mut sealer = Sealer::new(RegionId::new(1), from, 1);
        move |to, message| sealer.seal(&SenderKey::Agent(&key), to, message).unwrap()
    }

    /// A bundle of a fourth of what waits for an agent at most.
    fn bundle() -> Message {
        let front = CrawlUrl::parse("http://h.example/").unwrap();
        let position = HostPosition::of(front.host_key_str());
        let host = HostAtAddress { position, address: [10, 0, 0, 1].into() };
        Message::Bundle(Bundle {
            number: 1,
            is_copy: false,
            host,
            front,
            bytes: vec![0; BYTES / 4],
        })
    }

    #[test]
    fn a_flood_of_one_sender_drops_and_delays_none_of_another_one() {
        let to = agent(1);
        let mut honest = sealer(agent(2));
        let mut hostile = sealer(agent(3));
        let mut mailbox = Mailbox::default();
        let first = honest(to, Message::UrlsTaken(1));
        let second = honest(to, Message::UrlsTaken(2));
        mailbox.put(to, first.clone());
        for number in 0..=ENVELOPES as u64 {
            mailbox.put(to, hostile(to, Message::UrlsTaken(number)));
        }
        mailbox.put(to, second.clone());
        let taken = take_others(&mut mailbox, to, 4 * first.bytes());
        assert_eq!((taken.len(), &taken[0], &taken[2]), (4, &first, &second));
        assert_eq!(take_others(&mut mailbox, to, usize::MAX).len(), ENVELOPES - 2);
    }

    #[test]
    fn a_mailbox_is_bounded_over_all_receivers_at_the_expense_of_the_largest_sender() {
        let mut honest = sealer(agent(2));
        let mut hostile = sealer(agent(3));
        let mut mailbox = Mailbox::default();
        let small = honest(agent(10), Message::UrlsTaken(1));
        mailbox.put(agent(10), small.clone());
        for receiver in 10..20 {
            mailbox.put(agent(receiver), hostile(agent(receiver), bundle()));
        }
        let mut taken = take_others(&mut mailbox, agent(10), usize::MAX);
        for receiver in 10..20 {
            taken.extend(mailbox.take(agent(receiver), Lane::Bundles, usize::MAX));
        }
        let bytes: usize = taken.iter().map(Envelope::bytes).sum();
        assert!((BYTES / 2..=BYTES).contains(&bytes), "{bytes}");
        assert!(taken.contains(&small));
        assert!(mailbox.sent.is_empty() && mailbox.bytes == 0);
    }

    #[test]
    fn what_waits_beside_bundles_is_taken_without_them() {
        let to = agent(1);
        let mut seal = sealer(agent(2));
        let mut mailbox = Mailbox::default();
        let large = seal(to, bundle());
        let small = seal(to, Message::UrlsTaken(1));
        mailbox.put(to, large.clone());
        mailbox.put(to, small.clone());
        assert_eq!(take_others(&mut mailbox, to, 1 << 20), [small]);
        assert!(take_others(&mut mailbox, to, 1 << 20).is_empty());
        assert!(!mailbox.is_empty(to));
        assert_eq!(mailbox.take(to, Lane::Bundles, 1), [large]);
        assert!(mailbox.is_empty(to));
    }

    #[test]
    fn nothing_waits_for_receivers_that_are_gone() {
        let mut seal = sealer(agent(2));
        let mut mailbox = Mailbox::of_coordinator();
        for receiver in [1, 3] {
            mailbox.put(agent(receiver), seal(agent(receiver), Message::UrlsTaken(1)));
        }
        mailbox.retain(|to| to == agent(3));
        assert!(mailbox.is_empty(agent(1)));
        assert_eq!(take_others(&mut mailbox, agent(3), usize::MAX).len(), 1);
        assert!(mailbox.sent.is_empty() && mailbox.bytes == 0);
    }
}
