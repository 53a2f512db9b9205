//! History: delegations that ended long ago, with what was written about them.
//!
//! It is deleted in steps by indexes, and not by partition: the search that found the present agent
//! of a subnet is as old as the delegation, so that old rows lie among those that are needed.

use model::{DAY_MS, UnixMillis};
use sqlx::PgConnection;

use crate::commit::commit;
use crate::moment::Moment;
use crate::{Store, StoreError};

/// Rows of one step.
const STEP: i64 = 500;

/// Searches without a delegation are kept for this many days. They explain no delegation, and
/// searches without an answer take the most space, because each asked all agents.
const SEARCH_DAYS: u32 = 30;

/// What belongs to delegations ($1), in the order of the references.
const BELONGINGS: [&str; 4] = [
    "UPDATE delegations SET remapped_from = NULL WHERE remapped_from = ANY($1)",
    "DELETE FROM moves WHERE delegation = ANY($1)",
    "DELETE FROM incidents WHERE delegation = ANY($1)",
    "DELETE FROM delegations WHERE id = ANY($1)",
];

/// How far a deletion has come: the last delegation, or the last search, that was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// When it ended.
    ended_at: UnixMillis,
    /// Identifier of that row.
    id: i64,
}

impl Default for Position {
    fn default() -> Self {
        Self { ended_at: UnixMillis(0), id: 0 }
    }
}

/// Result of one step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// Where the next step goes on; `None` at the end.
    pub next: Option<Position>,
    /// Delegations, or searches, that were deleted.
    pub deleted: u64,
}

/// Deletes a step of probes of incidents and homes that ended and were ordered before `before`.
/// Returns whether there may be more.
pub async fn forget_checks(store: &Store, before: UnixMillis) -> Result<bool, StoreError> {
    let doing = "delete probes of incidents and homes";
    delete_step(store, include_str!("history/checks.sql"), before, doing).await
}

/// Deletes a step of addresses that have been silent since before `before`. Returns whether there
/// may be more.
pub async fn forget_silence(store: &Store, before: UnixMillis) -> Result<bool, StoreError> {
    let statement = "DELETE FROM silent_addresses WHERE address IN (
         SELECT address FROM silent_addresses WHERE since < $1 ORDER BY since LIMIT $2)
         AND since < $1";
    delete_step(store, statement, before, "delete addresses that were silent long ago").await
}

async fn delete_step(
    store: &Store,
    statement: &'static str,
    before: UnixMillis,
    doing: &'static str,
) -> Result<bool, StoreError> {
    let deleted = sqlx::query(statement)
        .bind(Moment(before))
        .bind(STEP)
        .execute(&store.pool())
        .await
        .map_err(StoreError::doing(doing))?;
    Ok(deleted.rows_affected() == STEP.unsigned_abs())
}

type PageRow = (i64, Moment, Option<i64>, bool);

/// Looks at the next delegations that ended before `before`, and deletes those that nothing needs,
/// with their searches, probes, moves and incidents. The last delegation of a subnet is kept.
pub async fn forget_delegations(
    store: &Store,
    after: Position,
    before: UnixMillis,
) -> Result<Step, StoreError> {
    let doing = StoreError::doing("delete delegations that ended long ago");
    let mut tx = store.begin().await.map_err(doing)?;
    let page: Vec<PageRow> = sqlx::query_as(include_str!("history/page.sql"))
        .bind(Moment(before))
        .bind(Moment(after.ended_at))
        .bind(after.id)
        .bind(STEP)
        .fetch_all(&mut *tx)
        .await
        .map_err(doing)?;
    let deletable: Vec<&PageRow> = page.iter().filter(|row| row.3).collect();
    let ids: Vec<i64> = deletable.iter().map(|row| row.0).collect();
    let searches: Vec<i64> = deletable.iter().filter_map(|row| row.2).collect();
    if !ids.is_empty() {
        delete(&mut tx, &ids, &searches).await?;
        commit(tx).await.map_err(doing)?;
    }
    let last = page.last().filter(|_| page.len() == STEP as usize);
    let next = last.map(|row| Position { ended_at: row.1.0, id: row.0 });
    Ok(Step { next, deleted: ids.len() as u64 })
}

async fn delete(db: &mut PgConnection, ids: &[i64], searches: &[i64]) -> Result<(), StoreError> {
    let doing = StoreError::doing("delete what belongs to old delegations");
    for statement in BELONGINGS {
        sqlx::query(statement).bind(ids).execute(&mut *db).await.map_err(doing)?;
    }
    delete_searches(db, searches).await?;
    Ok(())
}

/// Deletes those of the searches that nothing refers to; returns how many.
async fn delete_searches(db: &mut PgConnection, searches: &[i64]) -> Result<u64, StoreError> {
    let deleted = sqlx::query(include_str!("history/searches.sql"))
        .bind(searches)
        .execute(db)
        .await
        .map_err(StoreError::doing("delete searches of long ago"))?;
    Ok(deleted.rows_affected())
}

/// Looks at the next searches that ended `history_days` ago, or 30 days where that is less, and
/// deletes those without a delegation, with their probes: searches without an answer, or that a pin
/// ended. The others are deleted with their delegations.
pub async fn forget_searches(
    store: &Store,
    after: Position,
    history_days: u32,
    now: UnixMillis,
) -> Result<Step, StoreError> {
    let before = now.plus_ms(-DAY_MS * i64::from(history_days.min(SEARCH_DAYS)));
    let doing = StoreError::doing("delete searches that ended long ago");
    let mut tx = store.begin().await.map_err(doing)?;
    let page: Vec<(i64, Moment)> = sqlx::query_as(include_str!("history/page_of_searches.sql"))
        .bind(Moment(before))
        .bind(Moment(after.ended_at))
        .bind(after.id)
        .bind(STEP)
        .fetch_all(&mut *tx)
        .await
        .map_err(doing)?;
    let ids: Vec<i64> = page.iter().map(|(id, _)| *id).collect();
    let deleted = delete_searches(&mut tx, &ids).await?;
    commit(tx).await.map_err(doing)?;
    let last = page.last().filter(|_| page.len() == STEP as usize);
    let next = last.map(|(id, at)| Position { ended_at: at.0, id: *id });
    Ok(Step { next, deleted })
}

/// Deletes up to a step of handovers that ended before `before` and that their agents confirmed.
/// Returns whether there may be more.
pub async fn forget_handovers(store: &Store, before: UnixMillis) -> Result<bool, StoreError> {
    let statement = "DELETE FROM handovers WHERE id IN (
         SELECT id FROM handovers WHERE ended_at < $1 AND confirmed_at IS NOT NULL
         ORDER BY ended_at LIMIT $2)";
    delete_step(store, statement, before, "delete handovers that ended long ago").await
}
