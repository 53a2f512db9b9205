//! The lease: how long the agent may fetch without an answer from the coordinator. After its end
//! the agent's hosts may have been given to other agents.

use std::{sync::Mutex, time::Duration};

use model::UnixMillis;
use tokio::time::Instant;

use crate::{clock, lock::lock};

/// Permission to fetch, renewed with each answer of the coordinator. It starts expired, because
/// before the first answer other agents may have the hosts.
#[derive(Debug)]
pub struct Lease(Mutex<Term>);

/// Measured by two clocks: the wall clock may be set, and the monotonic clock stands still while
/// the machine sleeps. The lease is over when either says so.
#[derive(Debug, Clone, Copy)]
struct Term {
    began: Instant,
    began_at: UnixMillis,
    length: Duration,
}

impl Default for Lease {
    fn default() -> Self {
        let over = Term { began: Instant::now(), began_at: UnixMillis(0), length: Duration::ZERO };
        Self(Mutex::new(over))
    }
}

impl Lease {
    /// Renews the lease after the answer to a heartbeat that was sent at `began`.
    pub fn renew(&self, began: Instant, began_at: UnixMillis, length_ms: u64) {
        let term = Term { began, began_at, length: Duration::from_millis(length_ms) };
        *lock(&self.0) = term;
    }

    /// Whether the agent may fetch.
    pub fn holds(&self) -> bool {
        !self.left().is_zero()
    }

    /// Time until the lease ends, zero afterwards.
    pub fn left(&self) -> Duration {
        let term = *lock(&self.0);
        let wall_ms = clock::now().0.saturating_sub(term.began_at.0).max(0).unsigned_abs();
        let past = term.began.elapsed().max(Duration::from_millis(wall_ms));
        term.length.saturating_sub(past)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_lease_ends_by_either_clock() {
        let lease = Lease::default();
        assert!(!lease.holds(), "before the first answer");
        lease.renew(Instant::now(), clock::now(), 60_000);
        assert!(lease.holds());
        tokio::time::advance(Duration::from_secs(61)).await;
        assert!(!lease.holds(), "by the monotonic clock");
        lease.renew(Instant::now(), clock::now().plus_ms(-61_000), 60_000);
        assert!(!lease.holds(), "by the wall clock, after the machine slept");
        lease.renew(Instant::now(), clock::now(), 0);
        assert!(!lease.holds(), "the coordinator has more orders to send first");
    }
}
