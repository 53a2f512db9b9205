//! The schedule's clock: the monotonic one, and the time for which the machine was suspended,
//! during which that stands still.

use std::{sync::atomic::Ordering, time::Duration};

use tokio::time::Instant;

use super::{Schedule, millis};

impl Schedule {
    /// Adds time for which the machine was suspended. The monotonic clock stood still meanwhile.
    pub fn was_suspended(&self, time: Duration) {
        self.suspended.fetch_add(millis(time), Ordering::Relaxed);
        for alarm in [&self.host_alarm, &self.lookup_alarm, &self.filling_alarm] {
            alarm.ring();
        }
    }

    pub(super) fn now(&self) -> u64 {
        millis(self.started.elapsed()) + self.suspended.load(Ordering::Relaxed)
    }

    /// The monotonic clock at a time of the schedule, if the machine is not suspended until then.
    pub(super) fn instant(&self, at: u64) -> Instant {
        let suspended = self.suspended.load(Ordering::Relaxed);
        self.started + Duration::from_millis(at.saturating_sub(suspended))
    }

    /// Time of the schedule that is at least `pause` from now.
    pub(super) fn after(&self, pause: Duration) -> u64 {
        // One more, because both terms are rounded down. Without a pause there is nothing to keep,
        // and a millisecond would be longer than a fetch from a near host.
        if pause.is_zero() { self.now() } else { self.now() + 1 + millis(pause) }
    }
}
