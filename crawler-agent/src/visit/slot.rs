//! Request slots: how many requests run at the same time.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::owner::gate::Permit;

/// All request slots of the agent.
#[derive(Debug, Clone)]
pub struct RequestSlots(Arc<Semaphore>);

/// A free slot that a task has taken.
#[derive(Debug)]
pub struct FreeSlot {
    _held: OwnedSemaphorePermit,
}

/// A slot with a request in it that the owner permits. Dropping it gives both back.
#[derive(Debug)]
pub struct RequestSlot {
    slot: FreeSlot,
    _permit: Permit,
}

impl RequestSlots {
    pub fn new(slots: usize) -> Self {
        Self(Arc::new(Semaphore::new(slots)))
    }

    /// Takes a slot, if one is free.
    pub fn take(&self) -> Option<FreeSlot> {
        Arc::clone(&self.0).try_acquire_owned().ok().map(|held| FreeSlot { _held: held })
    }

    /// Whether a slot is free.
    pub fn any_free(&self) -> bool {
        self.0.available_permits() > 0
    }

    /// Waits until a slot is free.
    pub async fn until_free(&self) {
        // Fails only when the slots are closed, which nobody does.
        drop(self.0.acquire().await);
    }
}

impl FreeSlot {
    /// The slot of a request that the owner permits.
    pub fn with(self, permit: Permit) -> RequestSlot {
        RequestSlot { slot: self, _permit: permit }
    }
}

impl RequestSlot {
    /// The slot after the request.
    pub fn after_request(self) -> FreeSlot {
        self.slot
    }
}
