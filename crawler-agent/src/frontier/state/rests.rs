//! Rests of hosts that are gone, which new URLs shorten.

use model::UnixMillis;

use super::State;
use crate::frontier::{Effect, FrontierError, HostNumber, LONGEST_PAUSE, disk::Disk, longest_rest};

impl State {
    /// Shortens the rest of a host for which the coordinator has a new URL: somebody expects that
    /// it is there. Six hours from its last request remain, as after its first failures, because a
    /// host may demand a pause of that length.
    pub(super) fn shorten_rest(
        &mut self,
        disk: &Disk,
        number: HostNumber,
        at: UnixMillis,
        effect: &mut Effect,
    ) -> Result<(), FrontierError> {
        let Some(host) = self.hosts.get_mut(disk, number)? else { return Ok(()) };
        let record = &mut host.record;
        // A rest that was shortened before ends within this time.
        if record.due <= at.plus(LONGEST_PAUSE) {
            return Ok(());
        }
        let excess = longest_rest(record.failures).saturating_sub(LONGEST_PAUSE);
        let excess_ms = i64::try_from(excess.as_millis()).unwrap_or(i64::MAX);
        record.due = UnixMillis(record.due.0.saturating_sub(excess_ms).max(at.0));
        let changed = effect.ready.iter_mut().filter(|(ready, _)| *ready == number);
        changed.for_each(|(_, due)| *due = record.due);
        Ok(())
    }
}
