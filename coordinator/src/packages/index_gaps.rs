//! What the index of this coordinator lacks of the ledger.

use std::fmt::{self, Display, Formatter};
use std::sync::Arc;

use model::LedgerPosition;
use store::StoreError;
use store::packages;
use tokio::task::spawn_blocking;

use crate::packages::Packages;
use crate::packages::cursor::LedgerCursor;
use crate::runtime::quantity::quantity;

/// Packages whose pages are not in the index of this coordinator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndexGaps {
    /// Those whose turn is to come.
    pub waiting: u64,
    /// Those that could not be read or indexed since the start; they are tried again.
    pub failed: u64,
}

impl IndexGaps {
    /// What is missing now.
    pub async fn read(parts: &Packages) -> Result<Self, StoreError> {
        let ledger = packages::ledger(&parts.store).await?;
        let index = Arc::clone(&parts.index);
        // Blocks while the index commits, which may take long.
        let progress = spawn_blocking(move || index.progress()).await.unwrap_or_default();
        let cursor = LedgerCursor::of_index(&progress, &ledger);
        Ok(Self::of(&cursor, ledger.last, parts.retries.count(cursor.skipped())))
    }

    fn of(cursor: &LedgerCursor, last: LedgerPosition, failed: usize) -> Self {
        // Positions have no gaps.
        let beyond = last.get().saturating_sub(cursor.last().get()).max(0).unsigned_abs();
        let failed = failed as u64;
        let missing = beyond + cursor.skipped().len() as u64;
        Self { waiting: missing.saturating_sub(failed), failed }
    }
}

impl Display for IndexGaps {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.waiting > 0 {
            write!(f, "; {} to come", quantity(self.waiting, "package"))?;
        }
        if self.failed > 0 {
            write!(f, "; {} failed here, see the log", quantity(self.failed, "package"))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use store::packages::Ledger;

    use super::*;

    #[test]
    fn what_is_skipped_or_beyond_the_cursor_is_missing() {
        let at = LedgerPosition::new;
        let ledger = Ledger { id: "one".into(), last: at(20), removals: 0 };
        let mut cursor = LedgerCursor::of_index("", &ledger);
        assert_eq!(IndexGaps::of(&cursor, ledger.last, 0), IndexGaps { waiting: 20, failed: 0 });
        cursor.skip(at(3));
        cursor.skip(at(4));
        cursor.take(at(10));
        let gaps = IndexGaps::of(&cursor, ledger.last, 1);
        assert_eq!(gaps, IndexGaps { waiting: 11, failed: 1 });
        assert_eq!(gaps.to_string(), "; 11 packages to come; 1 package failed here, see the log");
        let none = IndexGaps { waiting: 0, failed: 0 };
        assert_eq!(none.to_string(), "");
    }
}
