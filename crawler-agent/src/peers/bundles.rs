//! Host bundles of other members: how they join what this agent has.

use region::message::Bundle;

use super::{
    PeersError,
    host_urls::HostUrls,
    worker::{Batch, URLS, Worker, adopted},
};
use crate::{clock, frontier::Change};

impl Worker {
    /// Stores a bundle. A copy becomes notes at an agent that stands by. Every other bundle joins
    /// the frontier, also at an agent that is not the owner any more: the sender of a handover
    /// forgets the host, and notes would lose its pages on the way to the owner.
    pub(super) fn store_bundle(
        &mut self,
        bundle: &Bundle,
        batch: &mut Batch,
    ) -> Result<(), PeersError> {
        // The core takes only bundles that can be read.
        let mut received = HostUrls::decode(&bundle.bytes, bundle.front.host_key_str())?;
        if bundle.is_copy && !self.shared.is_mine(bundle.host) {
            let mut notes = received.notes(bundle.host);
            return notes.try_for_each(|note| self.note(&note, batch));
        }
        // Notes are adopted before the bundle. After it, notes of fetches would remove URLs that
        // the bundle has queued.
        self.adopt_notes(bundle.host.position, batch)?;
        self.apply_adopted(batch)?;
        if let Some((bytes, _)) = received.bundle.take() {
            self.take_over(bytes.to_vec())?;
        }
        for url in received.urls() {
            batch.adopted.push(adopted(&url.routed(bundle.host)));
            // A message has more URLs than may be in memory at once.
            if batch.adopted.len() >= URLS {
                self.apply_adopted(batch)?;
            }
        }
        Ok(())
    }

    /// Takes a host over with its queue, pages and validators. Response times of another agent say
    /// nothing about this one's.
    fn take_over(&self, bundle: Vec<u8>) -> Result<(), PeersError> {
        let at = clock::now();
        self.apply(Change::TakeOver { bundle, keeps_times: false, at }, at)?;
        self.store.sync_here()?;
        Ok(())
    }
}
