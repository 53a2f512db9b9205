//! Signer: numbers and signs this agent's messages to the region.

use std::sync::{Arc, Mutex};

use model::RegionId;
use protocol::key::AgentKey;
use region::{
    Message, Peer,
    envelope::{Envelope, Sealer, SenderKey},
};

use crate::lock::lock;

/// Signs messages as they leave: a receiver refuses numbers that are much older than others that it
/// has received, so that a message that waits has none yet.
pub(super) struct Signer {
    key: Arc<AgentKey>,
    /// None before the agent has the roster of a region.
    sealer: Mutex<Option<Sealer>>,
}

impl Signer {
    pub(super) fn new(key: Arc<AgentKey>) -> Self {
        Self { key, sealer: Mutex::default() }
    }

    /// Signs with this sealer, unless there is one already.
    pub(super) fn use_sealer(&self, sealer: impl FnOnce() -> Sealer) {
        self.with_sealer(|known| {
            known.get_or_insert_with(sealer);
        });
    }

    /// Signs for another region from now on.
    pub(super) fn enter(&self, region: RegionId) {
        self.with_sealer(|known| known.as_mut().map(|sealer| sealer.enter(region)));
    }

    /// The signed message; none before the agent has a region.
    pub(super) fn seal(&self, to: Peer, message: Message) -> Option<Envelope> {
        self.with_sealer(|known| known.as_mut()?.seal(&SenderKey::Agent(&self.key), to, message))
    }

    fn with_sealer<T>(&self, use_it: impl FnOnce(&mut Option<Sealer>) -> T) -> T {
        use_it(&mut lock(&self.sealer))
    }
}
