//! What the operator wants of balance.

use protocol::UnixMillis;

use crate::moment::Moment;
use crate::{Store, StoreError};

/// The part of the policy that balance goes by; read anew each time, so that a change holds at once
/// everywhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Balance {
    /// Which subnet leaves an agent that is over its capacity: `variance`, `next_best`, `cheapest`;
    /// or `off`.
    pub rule: String,
    /// Whether passes move towards the cheapest plan.
    pub passes: bool,
    /// Most subnets that passes move in 24 hours; at most 1,000,000.
    pub moves_a_day: u32,
    /// What a move of a pass must save at least, in milliseconds a day, unless it relieves an
    /// agent.
    pub least_gain_ms: u32,
}

/// Reads it.
pub async fn balance(store: &Store) -> Result<Balance, StoreError> {
    let (rule, passes, moves, gain): (String, bool, i32, i32) = sqlx::query_as(
        "SELECT balance_rule, balance_pass = 'optimal', balance_moves_a_day, balance_least_gain_ms FROM policy",
    )
    .fetch_one(store.pool())
    .await
    .map_err(StoreError::doing("read the policy of balance"))?;
    Ok(Balance {
        rule,
        passes,
        moves_a_day: moves.unsigned_abs(),
        least_gain_ms: gain.unsigned_abs(),
    })
}

/// Replaces it. Values beyond the bounds of [`Balance`] are an error of the database.
pub async fn set_balance(
    store: &Store,
    policy: &Balance,
    now: UnixMillis,
) -> Result<(), StoreError> {
    sqlx::query(
        "UPDATE policy SET balance_rule = $1, balance_pass = CASE WHEN $2 THEN 'optimal' ELSE 'off' END,
                           balance_moves_a_day = $3, balance_least_gain_ms = $4, changed_at = $5",
    )
    .bind(&policy.rule)
    .bind(policy.passes)
    .bind(i32::try_from(policy.moves_a_day).unwrap_or(i32::MAX))
    .bind(i32::try_from(policy.least_gain_ms).unwrap_or(i32::MAX))
    .bind(Moment(now))
    .execute(store.pool())
    .await
    .map_err(StoreError::doing("change the policy of balance"))?;
    Ok(())
}
