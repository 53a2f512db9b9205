//! Envelopes that this agent keeps for members that do not listen.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use region::{Peer, envelope::Envelope, mailbox::Mailbox, message::Lane};

/// Time after its last request for which a receiver is expected to ask again: longer than one
/// request is held, and than the pause of a receiver between two attempts.
const COLLECTS_WITHIN: Duration = Duration::from_secs(45);
/// Time after its last request for which a receiver's envelopes are kept: it may have left.
const KEPT_FOR: Duration = Duration::from_mins(10);

/// Envelopes by receiver.
#[derive(Default)]
pub(super) struct KeptEnvelopes {
    mailbox: Mailbox,
    /// When each receiver asked last.
    asked: BTreeMap<Peer, Instant>,
}

impl KeptEnvelopes {
    /// Keeps an envelope; returns it where its receiver does not collect here, which then needs
    /// another way: not every member can reach every listener.
    pub(super) fn put(&mut self, to: Peer, envelope: Envelope, now: Instant) -> Option<Envelope> {
        self.forget_silent(now);
        let is_fresh = |asked: &Instant| now.duration_since(*asked) < COLLECTS_WITHIN;
        if !self.asked.get(&to).is_some_and(is_fresh) {
            return Some(envelope);
        }
        self.mailbox.put(to, envelope);
        None
    }

    /// Notes that a receiver collects here.
    pub(super) fn note_request(&mut self, to: Peer, now: Instant) {
        self.asked.insert(to, now);
    }

    fn forget_silent(&mut self, now: Instant) {
        let Self { mailbox, asked } = self;
        asked.retain(|_, at| now.duration_since(*at) < KEPT_FOR);
        mailbox.retain(|to| asked.contains_key(&to));
    }

    /// The oldest envelopes of a receiver in one lane, of about this many bytes.
    pub(super) fn take(&mut self, to: Peer, lane: Lane, bytes: usize) -> Vec<Envelope> {
        self.mailbox.take(to, lane, bytes)
    }
}

#[cfg(test)]
mod tests {
    use model::{AgentId, RegionId};
    use protocol::key::AgentKey;
    use region::{
        Message,
        envelope::{Sealer, SenderKey},
    };

    use super::*;

    #[test]
    fn only_for_those_that_collect_envelopes_are_kept() {
        let to = Peer::Agent(AgentId::new(2));
        let key = AgentKey::from_seed([1; 32]);
        let mut sealer = Sealer::new(RegionId::new(1), Peer::Agent(AgentId::new(1)), 1);
        let mut seal = || {
            let envelope = sealer.seal(&SenderKey::Agent(&key), to, Message::UrlsTaken(1));
            envelope.unwrap()
        };
        let first = seal();
        let second = seal();
        let third = seal();
        let mut kept = KeptEnvelopes::default();
        let start = Instant::now();
        assert_eq!(kept.put(to, first.clone(), start), Some(first), "it never collected here");
        kept.note_request(to, start);
        let later = start + COLLECTS_WITHIN / 2;
        assert_eq!(kept.put(to, second.clone(), later), None);
        let late = start + COLLECTS_WITHIN;
        assert_eq!(kept.put(to, third.clone(), late), Some(third), "it collects here no more");
        assert_eq!(kept.take(to, Lane::Others, usize::MAX), [second]);
    }

    #[test]
    fn envelopes_for_those_that_come_no_more_are_dropped() {
        let to = Peer::Agent(AgentId::new(2));
        let key = AgentKey::from_seed([1; 32]);
        let mut sealer = Sealer::new(RegionId::new(1), Peer::Agent(AgentId::new(1)), 1);
        let mut seal =
            |to| sealer.seal(&SenderKey::Agent(&key), to, Message::UrlsTaken(1)).unwrap();
        let mut kept = KeptEnvelopes::default();
        let start = Instant::now();
        kept.note_request(to, start);
        assert_eq!(kept.put(to, seal(to), start), None);
        let other = Peer::Agent(AgentId::new(3));
        kept.note_request(other, start + KEPT_FOR);
        assert_eq!(kept.put(other, seal(other), start + KEPT_FOR), None);
        assert!(kept.take(to, Lane::Others, usize::MAX).is_empty());
    }
}
