//! Work of a coordinator in the ledger: packages that its index lacks, and as the leader those
//! whose changes the database lacks.

use std::collections::{BTreeMap, BTreeSet};

use model::LedgerPosition;
use store::StoreError;
use store::packages::{self, InTurn, LedgerPackage};

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

/// A package, and the work with it that is left here.
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

/// Work that can be done now; `applies` says whether changes of the database are part of it.
pub async fn find(
    parts: &Packages,
    cursor: &LedgerCursor,
    applies: bool,
) -> Result<FoundWork, StoreError> {
    let NextToIndex { chosen, passed_over, reaches_to } = next_to_index(parts, cursor).await?;
    let mut found = Vec::new();
    if !chosen.is_empty() {
        found = packages::at(&parts.store, &chosen).await?;
    }
    if applies {
        let now = parts.clock.now();
        // Indexed here while another coordinator was the leader, or set aside. Those that were
        // passed over or come after the cursor wait for their turn. While an index is built of
        // packages that were applied before, that would take hours: those beyond the next ones are
        // applied at once, so that the crawl goes on with their links, and indexed later.
        let builds = !found.is_empty() && found.iter().all(|package| package.is_ingested);
        let until = if builds { reaches_to } else { LedgerPosition::new(i64::MAX) };
        let in_turn = InTurn {
            positions: cursor.skipped().iter().copied().collect(),
            range: Some((cursor.last(), until)),
        };
        let pending = packages::pending(&parts.store, &in_turn, now, MOST_TO_APPLY).await?;
        found.extend(pending);
    }
    let work = |package: LedgerPackage| {
        let to_index = package.position <= reaches_to && !cursor.holds(package.position);
        let to_apply = applies && !package.is_ingested;
        (package.position, Work { package, to_index, to_apply })
    };
    // A package may be both skipped here and set aside by the leader.
    let found: BTreeMap<LedgerPosition, Work> = found.into_iter().map(work).collect();
    Ok(FoundWork { packages: found.into_values().collect(), passed_over })
}

/// What is to be indexed next.
struct NextToIndex {
    /// Packages whose turn it is.
    chosen: Vec<LedgerPosition>,
    /// New packages that they overtake.
    passed_over: Vec<LedgerPosition>,
    /// Position of the last package that they were chosen from.
    reaches_to: LedgerPosition,
}

async fn next_to_index(parts: &Packages, cursor: &LedgerCursor) -> Result<NextToIndex, StoreError> {
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
    let reaches_to = new.last().map_or(cursor.last(), |package| package.position);
    let chosen = chosen.into_iter().map(|package| package.position).collect();
    Ok(NextToIndex { chosen, passed_over, reaches_to })
}
