//! Alarms: a task sleeps until a time of the schedule, or until its alarm rings before that.

use std::sync::atomic::{AtomicU64, Ordering};

use tokio::{
    sync::Notify,
    time::{Instant, timeout_at},
};

/// The alarm of one task. Each wake-up of another thread costs more than a request to a near host
/// leaves, so it rings only where the task would wake too late.
#[derive(Debug, Default)]
pub(super) struct Alarm {
    notify: Notify,
    /// Until when the task sleeps, in milliseconds of the schedule's clock; 0 where it does not.
    /// Written and read with the workbench locked.
    at: AtomicU64,
}

impl Alarm {
    /// Notes, before [`Self::wait`], until when the task sleeps; none where no time is known.
    pub(super) fn set(&self, at: Option<u64>) {
        self.at.store(at.unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// Sleeps until `until`, or until the alarm rings. A ring since [`Self::set`] is not missed.
    pub(super) async fn wait(&self, until: Option<Instant>) {
        let rung = self.notify.notified();
        match until {
            // Either is a reason to look again.
            Some(until) => drop(timeout_at(until, rung).await),
            None => rung.await,
        }
        self.at.store(0, Ordering::Relaxed);
    }

    /// Rings if the task sleeps for longer than until `due`.
    pub(super) fn ring_before(&self, due: Option<u64>) {
        let at = self.at.load(Ordering::Relaxed);
        if at > 0 && due.is_some_and(|due| due < at) {
            self.ring();
        }
    }

    /// Ends the sleep of the task.
    pub(super) fn ring(&self) {
        // It stores a permit where the task does not wait yet.
        self.notify.notify_one();
    }
}
