//! Ranges of unregistered space that are virtual subnets because hosts have addresses there.

use std::net::IpAddr;

use hierarchy::Range;
use model::UnixMillis;
use sqlx::{AssertSqlSafe, SqlSafeStr};

use crate::columns::range;
use crate::moment::Moment;
use crate::{Store, StoreError};

/// Whether a host that has a subnet is in the range `r`.
const IS_USED: &str = "EXISTS (
    SELECT FROM hosts h WHERE h.first BETWEEN r.first AND r.last
                          AND h.state IN ('resolved', 'delegated', 'moving'))";

/// Adds ranges; those that are there already stay as they are.
pub async fn add(store: &Store, ranges: &[Range], now: UnixMillis) -> Result<(), StoreError> {
    sqlx::query(
        "INSERT INTO unregistered_subnets (first, last, made_at)
         SELECT first, last, $3 FROM unnest($1::inet[], $2::inet[]) AS r (first, last)
         ON CONFLICT DO NOTHING",
    )
    .bind(ranges.iter().map(Range::first).collect::<Vec<_>>())
    .bind(ranges.iter().map(Range::last).collect::<Vec<_>>())
    .bind(Moment(now))
    .execute(&store.pool())
    .await
    .map_err(StoreError::doing("add subnets of unregistered space"))?;
    Ok(())
}

/// All ranges in order.
pub async fn all(store: &Store) -> Result<Vec<Range>, StoreError> {
    list(store, "SELECT first, last FROM unregistered_subnets ORDER BY first, last").await
}

/// The ranges in which a host is that has a subnet, in order.
pub async fn used(store: &Store) -> Result<Vec<Range>, StoreError> {
    let select = "SELECT first, last FROM unregistered_subnets r WHERE";
    let statement = format!("{select} {IS_USED} ORDER BY first, last");
    list(store, AssertSqlSafe(statement)).await
}

async fn list(store: &Store, statement: impl SqlSafeStr) -> Result<Vec<Range>, StoreError> {
    let rows: Vec<(IpAddr, IpAddr)> = sqlx::query_as(statement)
        .fetch_all(&store.pool())
        .await
        .map_err(StoreError::doing("read the subnets of unregistered space"))?;
    rows.into_iter().map(|(first, last)| range(first, last)).collect()
}

/// The number of ranges.
pub async fn count(store: &Store) -> Result<u64, StoreError> {
    let count: i64 = sqlx::query_scalar("SELECT count(*) FROM unregistered_subnets")
        .fetch_one(&store.pool())
        .await
        .map_err(StoreError::doing("count the subnets of unregistered space"))?;
    Ok(count.unsigned_abs())
}

/// Deletes ranges in which no host is that has a subnet. Returns how many there were.
pub async fn delete_unused(store: &Store) -> Result<u64, StoreError> {
    let statement = format!("DELETE FROM unregistered_subnets r WHERE NOT {IS_USED}");
    let deleted = sqlx::query(AssertSqlSafe(statement))
        .execute(&store.pool())
        .await
        .map_err(StoreError::doing("delete unused subnets of unregistered space"))?;
    Ok(deleted.rows_affected())
}
