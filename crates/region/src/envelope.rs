//! Envelope: signed messages between parties, and the filter that opens them.
//!
//! A message may pass through another agent's mailbox, so the connection does not show which agent
//! wrote it. Sender, receiver and number are signed with the message. The filter refuses forged,
//! repeated and too many messages before the state machine sees them, and counts each refusal.

use std::collections::BTreeMap;

use model::RegionId;
use protocol::key::{AgentKey, CoordinatorKey, PublicKey, Purpose, Signature};
use serde::{Deserialize, Serialize};

use crate::message::{Lane, Message};
use crate::ownership::View;
use crate::peer::Peer;
use crate::time::Millis;

/// Largest encoded message, in bytes: a bundle with its frame.
pub const MESSAGE_BYTES: usize = crate::message::BUNDLE_BYTES + (1 << 20);
/// Messages that a party may send at once, and the number by which this grows in a second.
const BURST: u64 = 2_000;
const RATE: u64 = 100;
/// Messages of a lane before the newest one that are still taken if they arrive late.
const WINDOW: u64 = 128;

/// A signed message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Envelope {
    /// The encoded [`Contents`].
    body: Vec<u8>,
    signature: Signature,
}

/// What the signature covers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Contents {
    header: Header,
    /// Start of the sender's process; larger after each restart.
    incarnation: u64,
    /// Number of the message in its lane to this receiver since.
    number: u64,
    message: Message,
}

/// A message that its sender signed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verified(Contents);

/// Addresses of an envelope, unverified: a forged envelope may name any addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// The region of both parties.
    pub region: RegionId,
    /// The alleged sender.
    pub from: Peer,
    /// The receiver, which may open it.
    pub to: Peer,
    /// The lane in which it travels. Bundles are numbered apart: on a slow line many other messages
    /// overtake them.
    pub lane: Lane,
}

impl Envelope {
    /// The addresses, which are the beginning of what is signed; none if they cannot be read.
    pub fn header(&self) -> Option<Header> {
        postcard::take_from_bytes(&self.body).ok().map(|(header, _)| header)
    }

    /// Whether a party of this view may pass the envelope on: sender and receiver are parties too,
    /// and the sender signed it.
    pub fn may_pass(&self, view: &View, coordinator: &PublicKey) -> bool {
        let Some(header) = self.header() else { return false };
        header.region == view.roster().region
            && view.voters().contains(&header.to)
            && self.body.len() <= MESSAGE_BYTES
            && self.check_signature(header.from, view, coordinator).is_ok()
    }

    /// The message, if a party of this view signed it; [`EnvelopeFilter::open_verified`] opens it.
    /// Verifying takes most of the time and needs no filter, so that the filter need not be locked
    /// for it.
    pub fn verify(&self, view: &View, coordinator: &PublicKey) -> Result<Verified, Refusal> {
        if self.body.len() > MESSAGE_BYTES {
            return Err(Refusal::TooLarge);
        }
        let header = self.header().ok_or(Refusal::Format)?;
        self.check_signature(header.from, view, coordinator)?;
        // Read only now: in memory the message may be many times as large as here, and only members
        // may cause that. Its addresses are the same, because they are read from the same bytes.
        postcard::from_bytes(&self.body).map(Verified).map_err(|_| Refusal::Format)
    }

    fn check_signature(
        &self,
        from: Peer,
        view: &View,
        coordinator: &PublicKey,
    ) -> Result<(), Refusal> {
        let key = match from {
            Peer::Coordinator => Some(*coordinator),
            Peer::Agent(agent) => view.roster().agent(agent).map(|entry| entry.key),
        };
        let key = key.ok_or(Refusal::Stranger)?;
        key.verify(Purpose::RegionMessage, &self.body, &self.signature)
            .map_err(|_| Refusal::Signature)
    }

    /// Size in bytes, about.
    pub fn bytes(&self) -> usize {
        self.body.len() + 64
    }
}

/// Why a message was not opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum Refusal {
    /// Larger than any message.
    #[error("too large")]
    TooLarge,
    /// Cannot be read.
    #[error("cannot be read")]
    Format,
    /// For another receiver or region.
    #[error("for another receiver")]
    Receiver,
    /// The sender is not in the roster.
    #[error("the sender is not in the roster")]
    Stranger,
    /// Not signed by the sender.
    #[error("not signed by the sender")]
    Signature,
    /// Received before, or much older than what was received.
    #[error("received before")]
    Replay,
    /// The sender sends too much.
    #[error("too many messages")]
    Flood,
}

/// Secret key of a sender.
pub enum SenderKey<'k> {
    /// Key of an agent.
    Agent(&'k AgentKey),
    /// Key of the coordinator.
    Coordinator(&'k CoordinatorKey),
}

/// Numbers and signs the messages of one party.
#[derive(Debug, Clone)]
pub struct Sealer {
    region: RegionId,
    me: Peer,
    incarnation: u64,
    /// Number of the last message to each receiver in each lane.
    sent: BTreeMap<(Peer, Lane), u64>,
}

impl Sealer {
    /// The sealer of a process that starts now.
    pub fn new(region: RegionId, me: Peer, incarnation: u64) -> Self {
        Self { region, me, incarnation, sent: BTreeMap::new() }
    }

    /// Seals for another region from now on. The numbers go on: the agent may come back.
    pub fn enter(&mut self, region: RegionId) {
        self.region = region;
    }

    /// The signed message; none if it cannot be encoded.
    pub fn seal(&mut self, key: &SenderKey<'_>, to: Peer, message: Message) -> Option<Envelope> {
        let lane = message.lane();
        let header = Header { region: self.region, from: self.me, to, lane };
        let number = self.sent.entry((to, lane)).or_default();
        *number += 1;
        let contents = Contents { header, incarnation: self.incarnation, number: *number, message };
        let body = postcard::to_allocvec(&contents).ok()?;
        let signature = match key {
            SenderKey::Agent(key) => key.sign(Purpose::RegionMessage, &body),
            SenderKey::Coordinator(key) => key.sign(Purpose::RegionMessage, &body),
        };
        Some(Envelope { body, signature })
    }
}

/// What the filter knows of one sender's messages in one lane.
#[derive(Debug, Clone, Copy)]
struct Sender {
    incarnation: u64,
    /// Newest number received, and a bit for each of the [`WINDOW`] numbers up to it.
    newest: u64,
    received: u128,
    /// Thousandths of a message that may still be sent.
    allowance: u64,
    at: Millis,
}

/// Opens messages for one party.
#[derive(Debug, Clone)]
pub struct EnvelopeFilter {
    region: RegionId,
    me: Peer,
    coordinator: PublicKey,
    senders: BTreeMap<(Peer, Lane), Sender>,
    refused: BTreeMap<Refusal, u64>,
}

impl EnvelopeFilter {
    /// The filter of a party, with the coordinator's key.
    pub fn new(region: RegionId, me: Peer, coordinator: PublicKey) -> Self {
        let senders = BTreeMap::new();
        let refused = BTreeMap::new();
        Self { region, me, coordinator, senders, refused }
    }

    /// Sender and message, or why it is refused.
    pub fn open(
        &mut self,
        envelope: &Envelope,
        view: &View,
        now: Millis,
    ) -> Result<(Peer, Message), Refusal> {
        let verified = envelope.verify(view, &self.coordinator);
        let opened = verified.and_then(|message| self.admit(message, now));
        self.count(opened)
    }

    /// As [`EnvelopeFilter::open`], for a message whose signature was verified before.
    pub fn open_verified(
        &mut self,
        message: Verified,
        now: Millis,
    ) -> Result<(Peer, Message), Refusal> {
        let opened = self.admit(message, now);
        self.count(opened)
    }

    fn count(
        &mut self,
        opened: Result<(Peer, Message), Refusal>,
    ) -> Result<(Peer, Message), Refusal> {
        if let Err(refusal) = &opened {
            *self.refused.entry(*refusal).or_default() += 1;
        }
        opened
    }

    /// Number of refused messages by reason.
    pub fn refused(&self) -> &BTreeMap<Refusal, u64> {
        &self.refused
    }

    /// Checks the receiver of a genuine message, and counts it against repetition and the sender's
    /// allowance.
    fn admit(
        &mut self,
        Verified(contents): Verified,
        now: Millis,
    ) -> Result<(Peer, Message), Refusal> {
        let Header { region, from, to, .. } = contents.header;
        if region != self.region || to != self.me || from == self.me {
            return Err(Refusal::Receiver);
        }
        // Not as the header says: a dishonest member may write anything there.
        let lane = contents.message.lane();
        let sender = self.senders.entry((from, lane)).or_insert(Sender {
            incarnation: contents.incarnation,
            newest: 0,
            received: 0,
            allowance: 1_000 * BURST,
            at: now,
        });
        sender.receive(contents.incarnation, contents.number)?;
        sender.spend(now)?;
        Ok((from, contents.message))
    }
}

impl Sender {
    fn receive(&mut self, incarnation: u64, number: u64) -> Result<(), Refusal> {
        if incarnation < self.incarnation {
            return Err(Refusal::Replay);
        }
        if incarnation > self.incarnation {
            self.incarnation = incarnation;
            self.newest = 0;
            self.received = 0;
        }
        if number > self.newest {
            let step = number - self.newest;
            let kept = u32::try_from(step).ok().and_then(|step| self.received.checked_shl(step));
            self.received = kept.unwrap_or(0) | 1;
            self.newest = number;
            return Ok(());
        }
        let age = self.newest - number;
        let bit = if age < WINDOW { 1_u128 << age } else { 0 };
        if bit == 0 || self.received & bit != 0 {
            return Err(Refusal::Replay);
        }
        self.received |= bit;
        Ok(())
    }

    /// A bucket that holds [`BURST`] messages and is filled at [`RATE`].
    fn spend(&mut self, now: Millis) -> Result<(), Refusal> {
        let earned = now.since(self.at).saturating_mul(RATE);
        self.allowance = self.allowance.saturating_add(earned).min(1_000 * BURST);
        self.at = now;
        self.allowance = self.allowance.checked_sub(1_000).ok_or(Refusal::Flood)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
