//! How long the agent may go on by itself. Past that its hosts may have gone to others, so that it
//! must hear from the coordinator first.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use model::UnixMillis;
use tokio::time::Instant;

use crate::clock;

/// Renewed with each answer of the coordinator.
#[derive(Debug, Default)]
pub(super) struct Lease(Mutex<Option<Until>>);

/// By both clocks: one may be set, the other stands still while the machine sleeps.
#[derive(Debug, Clone, Copy)]
struct Until {
    began: Instant,
    began_at: UnixMillis,
    length: Duration,
}

impl Lease {
    /// The coordinator has answered a heartbeat that was sent at `began`; none stands for a lease
    /// without an end.
    pub(super) fn renew(&self, began: Instant, began_at: UnixMillis, length_ms: Option<u64>) {
        let length = length_ms.map(Duration::from_millis);
        let until = length.map(|length| Until { began, began_at, length });
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = until;
    }

    /// Whether the agent may go on; yes before the first answer, since nothing is fetched before it
    /// anyway.
    pub(super) fn holds(&self) -> bool {
        let until = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        until.is_none_or(|until| {
            let wall = clock::now().0.saturating_sub(until.began_at.0).max(0).unsigned_abs();
            until.began.elapsed().max(Duration::from_millis(wall)) < until.length
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_lease_ends_by_either_clock() {
        let lease = Lease::default();
        assert!(lease.holds());
        lease.renew(Instant::now(), clock::now(), Some(60_000));
        assert!(lease.holds());
        tokio::time::advance(Duration::from_secs(61)).await;
        assert!(!lease.holds(), "by the clock that counts");
        lease.renew(Instant::now(), clock::now().plus_ms(-61_000), Some(60_000));
        assert!(!lease.holds(), "by the clock on the wall, after the machine slept");
        lease.renew(Instant::now(), clock::now(), None);
        assert!(lease.holds(), "an older coordinator gives leases without an end");
        lease.renew(Instant::now(), clock::now(), Some(0));
        assert!(!lease.holds(), "there are more orders to come");
    }
}
