//! Work of a coordinator in the ledger: packages that its index lacks, and as the leader those
//! whose changes the database lacks.

use std::collections::BTreeMap;

use model::LedgerPosition;
use store::StoreError;
use store::packages::{self, LedgerPackage};

use crate::packages::Packages;
use crate::packages::cursor::LedgerCursor;

/// Most packages of each kind in a batch: new ones, skipped ones, and ones to be applied.
const MOST: u32 = 16;

/// A package and what is left to do with it here.
#[derive(Debug, Clone)]
pub struct Work {
    pub package: LedgerPackage,
    /// Whether the index of this coordinator lacks its pages.
    pub to_index: bool,
    /// Whether the database lacks its counts and links, and this coordinator is the leader.
    pub to_apply: bool,
}

/// Work that can be done now, in the order of positions, in a ledger that ends with `last`.
pub async fn find(
    parts: &Packages,
    cursor: &LedgerCursor,
    last: LedgerPosition,
    is_leader: bool,
) -> Result<Vec<Work>, StoreError> {
    let now = parts.clock.now();
    let mut found = Vec::new();
    if last > cursor.last() {
        found = packages::after(&parts.store, cursor.last(), MOST).await?;
    }
    let due = parts.retries.due(cursor.skipped(), now, MOST as usize);
    if !due.is_empty() {
        found.extend(packages::at(&parts.store, &due).await?);
    }
    if is_leader {
        // Indexed here while another coordinator was the leader, or set aside. Those after the
        // cursor come with the new packages.
        let pending = packages::pending(&parts.store, now, MOST).await?;
        found.extend(pending.into_iter().filter(|package| package.position <= cursor.last()));
    }
    let work = |package: LedgerPackage| {
        let to_index = !cursor.holds(package.position);
        let to_apply = is_leader && !package.is_ingested;
        (package.position, Work { package, to_index, to_apply })
    };
    // A package may be both skipped here and set aside by the leader.
    let found: BTreeMap<LedgerPosition, Work> = found.into_iter().map(work).collect();
    Ok(found.into_values().collect())
}
