//! Searches for subnets that somebody crawls already, and whom a search passed over.

use hierarchy::Range;
use model::{SearchId, UnixMillis};
use sqlx::types::Json;

use crate::delegations::Skipped;
use crate::hosts::{Orphan, OrphanRow, orphan};
use crate::moment::Moment;
use crate::{Store, StoreError};

/// One host each of those of the subnets that have one with an address: the one with the most
/// pages. Left out are subnets with an open search, and those searched for after `since`, after
/// they were last delegated and, where a pin held them, after that ended.
pub async fn targets(
    store: &Store,
    subnets: &[Range],
    since: UnixMillis,
) -> Result<Vec<Orphan>, StoreError> {
    let rows: Vec<OrphanRow> = sqlx::query_as(include_str!("targets.sql"))
        .bind(subnets.iter().map(Range::first).collect::<Vec<_>>())
        .bind(subnets.iter().map(Range::last).collect::<Vec<_>>())
        .bind(Moment(since))
        .fetch_all(store.pool())
        .await
        .map_err(StoreError::doing("find what to probe in subnets"))?;
    rows.into_iter().map(orphan).collect()
}

/// Ends a search for a subnet that a pin holds, without a decision. Whether it was open and the pin
/// counts: one that was removed meanwhile leaves the search to find somebody.
pub async fn leave_pinned(
    store: &Store,
    search: SearchId,
    now: UnixMillis,
) -> Result<bool, StoreError> {
    let closed = sqlx::query(include_str!("leave_pinned.sql"))
        .bind(search.get())
        .bind(Moment(now))
        .execute(store.pool())
        .await
        .map_err(StoreError::doing("end a search for a pinned subnet"))?;
    Ok(closed.rows_affected() == 1)
}

/// Whom a search passed over when it decided.
pub async fn skipped(store: &Store, search: SearchId) -> Result<Vec<Skipped>, StoreError> {
    let found: Option<Json<Vec<Skipped>>> =
        sqlx::query_scalar("SELECT skipped FROM searches WHERE id = $1")
            .bind(search.get())
            .fetch_optional(store.pool())
            .await
            .map_err(StoreError::doing("read whom a search passed over"))?;
    Ok(found.map(|found| found.0).unwrap_or_default())
}
