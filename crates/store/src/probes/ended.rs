//! Orders that end without a report.

use model::UnixMillis;

use crate::moment::Moment;
use crate::{Store, StoreError};

/// Takes orders back from agents that sleep or are paused; they may be asked again another time.
/// Says how many.
pub async fn withdraw(store: &Store, now: UnixMillis) -> Result<u64, StoreError> {
    let withdrawn = sqlx::query(include_str!("withdraw.sql"))
        .bind(Moment(now))
        .execute(store.pool())
        .await
        .map_err(StoreError::doing("take probe orders back"))?;
    Ok(withdrawn.rows_affected())
}

/// Ends the patience with orders made until `asked_before`, and with those of agents not heard of
/// since `heartbeat_cutoff`. Says how many.
pub async fn expire(
    store: &Store,
    asked_before: UnixMillis,
    heartbeat_cutoff: UnixMillis,
    now: UnixMillis,
) -> Result<u64, StoreError> {
    let expired = sqlx::query(include_str!("expire.sql"))
        .bind(Moment(asked_before))
        .bind(Moment(heartbeat_cutoff))
        .bind(Moment(now))
        .execute(store.pool())
        .await
        .map_err(StoreError::doing("expire probe orders"))?;
    Ok(expired.rows_affected())
}
