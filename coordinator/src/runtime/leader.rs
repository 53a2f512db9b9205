//! Whether this coordinator is the leader, and since when.

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use model::UnixMillis;
use store::Term;

/// Set by the election (`tasks::election`), read by everything that only the leader may do.
#[derive(Debug, Default)]
pub struct Leader(RwLock<Option<(Term, UnixMillis)>>);

impl Leader {
    /// Whether this coordinator is the leader.
    pub fn is_leader(&self) -> bool {
        self.read().is_some()
    }

    /// When this coordinator became the leader; `None` while it is not.
    pub fn since(&self) -> Option<UnixMillis> {
        self.read().map(|(_, since)| since)
    }

    /// The term of this coordinator; `None` while it is not the leader.
    pub fn term(&self) -> Option<Term> {
        self.read().map(|(term, _)| term)
    }

    /// This coordinator leads from now on.
    pub fn begin(&self, term: Term, now: UnixMillis) {
        *self.write() = Some((term, now));
    }

    /// This coordinator does not lead any more.
    pub fn end(&self) {
        *self.write() = None;
    }

    /// The database has refused a statement of this term: another coordinator was elected. The
    /// election sees that the term is over, and stands again.
    pub fn end_deposed(&self, term: Term) {
        let mut leads = self.write();
        if leads.is_some_and(|(present, _)| present == term) {
            tracing::warn!(%term, "another coordinator was elected: this one stops leading");
            *leads = None;
        }
    }

    fn read(&self) -> RwLockReadGuard<'_, Option<(Term, UnixMillis)>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Option<(Term, UnixMillis)>> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}
