//! Probe orders that end without a report.

use model::UnixMillis;

use crate::moment::Moment;
use crate::{Store, StoreError};

/// Withdraws orders from agents that are asleep or paused; they may be asked again later. Returns
/// the number of orders.
pub async fn withdraw(store: &Store, now: UnixMillis) -> Result<u64, StoreError> {
    let withdrawn = sqlx::query(include_str!("withdraw.sql"))
        .bind(Moment(now))
        .execute(&store.pool())
        .await
        .map_err(StoreError::doing("withdraw probe orders"))?;
    Ok(withdrawn.rows_affected())
}

/// Expires orders made until `asked_before`, and those of agents whose last heartbeat was before
/// `heartbeat_cutoff`. Returns their number.
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
        .execute(&store.pool())
        .await
        .map_err(StoreError::doing("expire probe orders"))?;
    Ok(expired.rows_affected())
}
