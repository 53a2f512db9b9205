//! Packages whose ingestion failed: set aside, shown, and tried again.

use model::{AgentId, LedgerPosition, UnixMillis};
use sqlx::postgres::PgRow;
use sqlx::{FromRow, Row as _};

use crate::columns::ReadColumn as _;
use crate::line::one_line;
use crate::moment::Moment;
use crate::{Store, StoreError};

/// A package whose last ingestion failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedPackage {
    /// Its place in the ledger.
    pub position: LedgerPosition,
    /// The agent that shipped it.
    pub agent: AgentId,
    /// Name of that agent.
    pub agent_name: String,
    /// Epoch of the agent's data directory.
    pub epoch: u64,
    /// Number within the epoch.
    pub seq: u64,
    /// When it was received.
    pub received_at: UnixMillis,
    /// Why the last ingestion failed.
    pub failure: String,
    /// How often its ingestion failed.
    pub failures: u32,
    /// When its ingestion failed last.
    pub failed_at: UnixMillis,
    /// When its ingestion is tried again.
    pub retry_at: UnixMillis,
}

impl FromRow<'_, PgRow> for FailedPackage {
    fn from_row(row: &PgRow) -> sqlx::Result<Self> {
        Ok(Self {
            position: row.read("position")?,
            agent: row.read("agent")?,
            agent_name: row.try_get("agent_name")?,
            epoch: row.read("epoch")?,
            seq: row.read("seq")?,
            received_at: row.read("received_at")?,
            failure: row.try_get("failure")?,
            failures: row.read("failures")?,
            failed_at: row.read("failed_at")?,
            retry_at: row.read("retry_at")?,
        })
    }
}

/// Sets a package aside until `retry_at`, so that it does not block the others.
pub async fn fail(
    store: &Store,
    position: LedgerPosition,
    failure: &str,
    now: UnixMillis,
    retry_at: UnixMillis,
) -> Result<(), StoreError> {
    sqlx::query(
        "UPDATE packages
         SET failure = $2, failures = failures + 1, failed_at = $3, retry_at = $4
         WHERE position = $1 AND ingested_at IS NULL",
    )
    .bind(position.get())
    .bind(one_line(failure))
    .bind(Moment(now))
    .bind(Moment(retry_at))
    .execute(&store.pool())
    .await
    .map_err(StoreError::doing("set a package aside"))?;
    Ok(())
}

/// Failed packages before a position, the newest first.
pub async fn list_failed(
    store: &Store,
    before: LedgerPosition,
    limit: i64,
) -> Result<Vec<FailedPackage>, StoreError> {
    sqlx::query_as(
        "SELECT p.position, p.agent, a.name AS agent_name, p.epoch, p.seq, p.received_at,
                p.failure, p.failures, p.failed_at, p.retry_at
         FROM packages p JOIN agents a ON a.id = p.agent
         WHERE p.failure IS NOT NULL AND p.position < $1 ORDER BY p.position DESC LIMIT $2",
    )
    .bind(before.get())
    .bind(limit)
    .fetch_all(&store.pool())
    .await
    .map_err(StoreError::doing("list the failed packages"))
}

/// Number of failed packages.
pub async fn count_failed(store: &Store) -> Result<u64, StoreError> {
    let count: i64 = sqlx::query_scalar("SELECT count(*) FROM packages WHERE failure IS NOT NULL")
        .fetch_one(&store.pool())
        .await
        .map_err(StoreError::doing("count the failed packages"))?;
    Ok(count.unsigned_abs())
}

/// Makes the next attempt due at once. Returns whether the package had failed.
pub async fn retry(
    store: &Store,
    position: LedgerPosition,
    now: UnixMillis,
) -> Result<bool, StoreError> {
    let retried = sqlx::query(
        "UPDATE packages SET retry_at = $2 WHERE position = $1 AND failure IS NOT NULL",
    )
    .bind(position.get())
    .bind(Moment(now))
    .execute(&store.pool())
    .await
    .map_err(StoreError::doing("retry a failed package"))?;
    Ok(retried.rows_affected() == 1)
}
