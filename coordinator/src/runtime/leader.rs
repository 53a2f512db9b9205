//! Whether this coordinator is the leader, and since when.

use std::sync::{PoisonError, RwLock};

use model::UnixMillis;

/// Set by the election (`tasks::election`), read by everything that only the leader may do.
#[derive(Debug, Default)]
pub struct Leader(RwLock<Option<UnixMillis>>);

impl Leader {
    /// Whether this coordinator is the leader.
    pub fn is_leader(&self) -> bool {
        self.since().is_some()
    }

    /// When this coordinator became the leader; `None` while it is not.
    pub fn since(&self) -> Option<UnixMillis> {
        *self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// This coordinator leads from now on.
    pub fn begin(&self, now: UnixMillis) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Some(now);
    }

    /// This coordinator does not lead any more.
    pub fn end(&self) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = None;
    }
}
