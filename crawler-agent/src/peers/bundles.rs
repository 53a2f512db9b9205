//! Host bundles of other members: how they join what this agent has.

use region::message::{Bundle, UrlPurpose};

use super::{
    PeersError,
    core::routed,
    host_urls::HostUrls,
    worker::{Batch, Worker, adopted},
};
use crate::{clock, frontier::Change};

impl Worker {
    /// Stores a bundle: a copy for an agent that stands by as notes, any other in the frontier. Its
    /// sender forgets the host, so that pages of a bundle that goes on to the owner must not get
    /// lost.
    pub(super) fn store_bundle(
        &mut self,
        bundle: &Bundle,
        batch: &mut Batch,
    ) -> Result<(), PeersError> {
        let front = routed(&bundle.front, bundle.host, UrlPurpose::Fetch);
        self.writing(batch)?.add_host(&front)?;
        // The core takes only bundles that can be read.
        let received = HostUrls::decode(&bundle.bytes, bundle.front.host_key_str())?;
        if bundle.is_copy && !self.shared.is_mine(bundle.host) {
            let notes = received.into_notes(bundle.host);
            return notes.iter().try_for_each(|note| self.note(note, batch));
        }
        // Afterwards, notes of fetches would end the waiting of what the bundle queues.
        self.adopt_notes(bundle.host.position, batch)?;
        self.apply_adopted(batch)?;
        if let Some((bytes, _)) = received.bundle {
            self.take_over(bytes)?;
        }
        let urls = received.urls.into_iter().map(|url| url.routed(bundle.host));
        batch.adopted.extend(urls.map(|url| adopted(&url)));
        Ok(())
    }

    /// Takes a host over with its queue, pages and validators. Times of another agent say nothing
    /// of this one's.
    fn take_over(&self, bundle: Vec<u8>) -> Result<(), PeersError> {
        let at = clock::now();
        self.apply(Change::TakeOver { bundle, keeps_times: false, at }, at)?;
        self.store.sync_here()?;
        Ok(())
    }
}
