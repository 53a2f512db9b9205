//! Whether this coordinator is the leader.

use std::sync::atomic::{AtomicBool, Ordering};

/// Set by the election (`tasks::election`), read by everything that only the leader may do.
#[derive(Debug, Default)]
pub struct Leader(AtomicBool);

impl Leader {
    /// Whether this coordinator is the leader.
    pub fn is_leader(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }

    /// Stores the result of the election.
    pub fn set(&self, is_leader: bool) {
        self.0.store(is_leader, Ordering::Release);
    }
}
