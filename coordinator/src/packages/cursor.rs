//! Cursor of the ledger: which packages the index of this coordinator holds.
//!
//! The index stores the cursor with each commit. After a crash the cursor therefore describes
//! exactly what the index holds, and each package is indexed once.

use std::collections::BTreeSet;

use model::LedgerPosition;
use serde::{Deserialize, Serialize};
use store::packages::Ledger;

/// Which packages of a ledger the index holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerCursor {
    /// Identifier of the ledger.
    ledger: String,
    /// Position of the last package that was taken; 0 before the first.
    last: LedgerPosition,
    /// Packages up to there that were not indexed yet: they failed and are tried again, or packages
    /// of other agents came first.
    skipped: BTreeSet<LedgerPosition>,
    /// Number of the last removal of an agent's pages that was carried out.
    removals: u64,
}

impl LedgerCursor {
    /// The cursor that an index has stored. An index of another ledger, or of one that lost its
    /// last packages, has to take all packages again.
    pub fn of_index(progress: &str, ledger: &Ledger) -> Self {
        let stored = Self::stored(progress);
        let fits = |cursor: &Self| {
            cursor.ledger == ledger.id
                && cursor.last <= ledger.last
                && cursor.removals <= ledger.removals
        };
        stored.filter(fits).unwrap_or_else(|| Self {
            ledger: ledger.id.clone(),
            last: LedgerPosition::new(0),
            skipped: BTreeSet::new(),
            removals: 0,
        })
    }

    /// Whether an index that stored this text holds the packages of another ledger. The ledger of a
    /// restored database is another one.
    pub fn is_of_other_ledger(progress: &str, ledger: &Ledger) -> bool {
        Self::stored(progress).is_some_and(|cursor| cursor.ledger != ledger.id)
    }

    fn stored(progress: &str) -> Option<Self> {
        serde_json::from_str(progress).ok()
    }

    /// The text that the index stores.
    pub fn to_progress(&self) -> String {
        // Texts and numbers always have a form in JSON.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Position of the last package that was taken.
    pub fn last(&self) -> LedgerPosition {
        self.last
    }

    /// Packages up to the last one that were not indexed yet.
    pub fn skipped(&self) -> &BTreeSet<LedgerPosition> {
        &self.skipped
    }

    /// Whether the index holds this package.
    pub fn holds(&self, position: LedgerPosition) -> bool {
        position <= self.last && !self.skipped.contains(&position)
    }

    /// Number of the last removal that was carried out.
    pub fn removals(&self) -> u64 {
        self.removals
    }

    /// Notes that the removals up to this number were carried out.
    pub fn remove(&mut self, number: u64) {
        self.removals = number;
    }

    /// Notes that a package was indexed.
    pub fn take(&mut self, position: LedgerPosition) {
        self.skipped.remove(&position);
        self.last = self.last.max(position);
    }

    /// Notes that a package was not indexed yet.
    pub fn skip(&mut self, position: LedgerPosition) {
        self.skipped.insert(position);
        self.last = self.last.max(position);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(position: i64) -> LedgerPosition {
        LedgerPosition::new(position)
    }

    fn ledger(id: &str, last: i64) -> Ledger {
        Ledger { id: id.to_owned(), last: at(last), removals: 0 }
    }

    #[test]
    fn what_was_taken_is_held_until_the_ledger_changes() {
        let mut cursor = LedgerCursor::of_index("", &ledger("one", 0));
        cursor.take(at(1));
        cursor.skip(at(2));
        cursor.take(at(3));
        let progress = cursor.to_progress();
        let same = LedgerCursor::of_index(&progress, &ledger("one", 3));
        assert_eq!(same, cursor);
        assert!(same.holds(at(1)) && same.holds(at(3)));
        assert!(!same.holds(at(2)) && !same.holds(at(4)));
        for other in [ledger("two", 9), ledger("one", 2)] {
            assert_eq!(LedgerCursor::of_index(&progress, &other).last(), at(0));
        }
    }

    #[test]
    fn an_index_is_of_one_ledger() {
        let progress = LedgerCursor::of_index("", &ledger("one", 5)).to_progress();
        let is_of_other = LedgerCursor::is_of_other_ledger;
        assert!(!is_of_other(&progress, &ledger("one", 2)));
        assert!(is_of_other(&progress, &ledger("two", 5)));
        assert!(!is_of_other("", &ledger("two", 5)), "an empty index is of none");
    }

    #[test]
    fn removals_that_the_ledger_does_not_know_begin_the_index_anew() {
        let mut known = ledger("one", 3);
        known.removals = 2;
        let mut cursor = LedgerCursor::of_index("", &known);
        cursor.take(at(3));
        cursor.remove(2);
        let progress = cursor.to_progress();
        assert_eq!(LedgerCursor::of_index(&progress, &known).removals(), 2);
        let restored = LedgerCursor::of_index(&progress, &ledger("one", 3));
        assert_eq!((restored.last(), restored.removals()), (at(0), 0));
    }

    #[test]
    fn a_skipped_package_is_held_once_it_was_indexed() {
        let mut cursor = LedgerCursor::of_index("", &ledger("one", 9));
        cursor.skip(at(4));
        cursor.take(at(5));
        cursor.take(at(4));
        assert!(cursor.holds(at(4)) && cursor.skipped().is_empty());
        assert_eq!(cursor.last(), at(5));
    }
}
