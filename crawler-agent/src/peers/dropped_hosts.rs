//! Hosts that the agent has no more: others have them, or their region is none of the agent's.

use region::HostAtAddress;

use super::{
    PeersError,
    worker::{Batch, Worker},
};
use crate::frontier::{Change, HostNumber};

impl Worker {
    /// Drops a host by a change that is applied until nothing of it is left.
    pub(super) fn drop_host(
        &mut self,
        host: HostAtAddress,
        change: impl Fn(HostNumber) -> Change,
        batch: &mut Batch,
    ) -> Result<(), PeersError> {
        self.apply_adopted(batch)?;
        self.noted.remove(host.position);
        let front = self.shared.front(host.position);
        self.remove_host(host, batch)?;
        let Some(front) = front else { return Ok(()) };
        if let Some(number) = self.store.host_number(front.host_key_str())? {
            self.drop_number(number, &change(number), batch)?;
        }
        Ok(())
    }

    /// Drops the host with this number from the frontier by a change.
    pub(super) fn drop_number(
        &self,
        number: HostNumber,
        change: &Change,
        batch: &mut Batch,
    ) -> Result<(), PeersError> {
        self.schedule.retire(number);
        batch.has_results |= self.store.apply_wholly(change)?;
        self.schedule.forget(number);
        Ok(())
    }

    /// Removes a host from those of the region, with its address.
    pub(super) fn remove_host(
        &self,
        host: HostAtAddress,
        batch: &mut Batch,
    ) -> Result<(), PeersError> {
        self.shared.with_core(|core| core.forget_address(host.position));
        self.writing(batch)?.remove_host(host.position)?;
        Ok(())
    }
}
