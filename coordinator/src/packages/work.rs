//! Work of a coordinator in the ledger: packages that its index lacks, and as the leader those
//! whose changes the database lacks.

use std::collections::{BTreeMap, BTreeSet};

use model::LedgerPosition;
use store::StoreError;
use store::packages::{self, LedgerPackage};

use crate::packages::Packages;
use crate::packages::cursor::LedgerCursor;
use crate::packages::fair_order::{BatchBounds, choose, passed_over};
use crate::packages::retries::DuePackages;

/// Bounds of a batch: searches find its pages after its last package.
const BATCH: BatchBounds = BatchBounds { packages: 16, plain_bytes: 32 << 20 };
/// Packages of the ledger among which the next ones are chosen fairly.
const WINDOW: usize = 512;
/// Packages that failed before and are tried again in one batch, if there is room. There may be
/// thousands, such as those of a part of the storage that was lost.
const RETRIED: usize = 4;
/// Most packages in a batch whose changes alone are to be applied.
const MOST_TO_APPLY: u32 = 16;

/// A package and what is left to do with it here.
#[derive(Debug, Clone)]
pub struct Work {
    pub package: LedgerPackage,
    /// Whether the index of this coordinator lacks its pages.
    pub to_index: bool,
    /// Whether the database lacks its counts and links, and this coordinator is the leader.
    pub to_apply: bool,
}

/// The next batch.
#[derive(Debug, Clone, Default)]
pub struct FoundWork {
    /// Its packages, in the order of positions.
    pub packages: Vec<Work>,
    /// Packages that the cursor passes although they are still to come.
    pub passed_over: Vec<LedgerPosition>,
}

/// Work that can be done now.
pub async fn find(
    parts: &Packages,
    cursor: &LedgerCursor,
    is_leader: bool,
) -> Result<FoundWork, StoreError> {
    let (chosen, passed_over) = next_to_index(parts, cursor).await?;
    let mut found = Vec::new();
    if !chosen.is_empty() {
        found = packages::at(&parts.store, &chosen).await?;
    }
    if is_leader {
        let now = parts.clock.now();
        // Indexed here while another coordinator was the leader, or set aside. Those that were
        // passed over or come after the cursor wait for their turn.
        let skipped: Vec<LedgerPosition> = cursor.skipped().iter().copied().collect();
        let pending = packages::pending(&parts.store, &skipped, now, MOST_TO_APPLY).await?;
        found.extend(pending.into_iter().filter(|package| package.position <= cursor.last()));
    }
    let work = |package: LedgerPackage| {
        let to_index = !cursor.holds(package.position);
        let to_apply = is_leader && !package.is_ingested;
        (package.position, Work { package, to_index, to_apply })
    };
    // A package may be both skipped here and set aside by the leader.
    let found: BTreeMap<LedgerPosition, Work> = found.into_iter().map(work).collect();
    Ok(FoundWork { packages: found.into_values().collect(), passed_over })
}

/// The packages whose turn it is, and the new ones that they overtake.
async fn next_to_index(
    parts: &Packages,
    cursor: &LedgerCursor,
) -> Result<(Vec<LedgerPosition>, Vec<LedgerPosition>), StoreError> {
    let now = parts.clock.now();
    let DuePackages { untried, failed } =
        parts.retries.due(cursor.skipped(), now, (WINDOW, RETRIED));
    let new = u32::try_from(WINDOW.saturating_sub(untried.len())).unwrap_or(0);
    let also = [untried.as_slice(), failed.as_slice()].concat();
    // At least one, so that the cursor goes on.
    let waiting = packages::waiting(&parts.store, cursor.last(), &also, new.max(1)).await?;
    let chosen = choose(&waiting, &failed, parts.turns.last(), BATCH);
    parts.turns.ended_with(chosen.last().map(|package| package.agent));
    let known: BTreeSet<LedgerPosition> = also.into_iter().collect();
    let new: Vec<_> =
        waiting.into_iter().filter(|package| !known.contains(&package.position)).collect();
    let passed_over = passed_over(&new, &chosen);
    Ok((chosen.into_iter().map(|package| package.position).collect(), passed_over))
}
