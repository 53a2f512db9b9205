//! Request slots: how many requests run at the same time.

use tokio::sync::OwnedSemaphorePermit;

use crate::owner::gate::Permit;

/// A slot with a request in it that the owner permits. Dropping it gives both back.
#[derive(Debug)]
pub struct RequestSlot {
    slot: OwnedSemaphorePermit,
    _permit: Permit,
}

impl RequestSlot {
    /// A free slot for a request that the owner permits.
    pub fn new(slot: OwnedSemaphorePermit, permit: Permit) -> Self {
        Self { slot, _permit: permit }
    }

    /// The slot after the request.
    pub fn after_request(self) -> OwnedSemaphorePermit {
        self.slot
    }
}
