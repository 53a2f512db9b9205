//! What the operator wants of balance.

use model::UnixMillis;
use model::policy::BalancePolicy;

use crate::columns::read_word;
use crate::moment::Moment;
use crate::{Store, StoreError};

/// Reads the settings of balance.
pub async fn balance(store: &Store) -> Result<BalancePolicy, StoreError> {
    let (rule, passes, moves, gain): (String, bool, i32, i32) =
        sqlx::query_as(include_str!("balance.sql"))
            .fetch_one(store.pool())
            .await
            .map_err(StoreError::doing("read the policy of balance"))?;
    Ok(BalancePolicy {
        rule: read_word("policy", "balance_rule", true, &rule)?,
        passes,
        moves_a_day: moves.unsigned_abs(),
        least_gain_ms: gain.unsigned_abs(),
    })
}

/// Replaces it. Values beyond the bounds of [`BalancePolicy`] are an error of the database.
pub async fn set_balance(
    store: &Store,
    policy: &BalancePolicy,
    now: UnixMillis,
) -> Result<(), StoreError> {
    sqlx::query(include_str!("set_balance.sql"))
        .bind(policy.rule.as_str())
        .bind(policy.passes)
        .bind(i32::try_from(policy.moves_a_day).unwrap_or(i32::MAX))
        .bind(i32::try_from(policy.least_gain_ms).unwrap_or(i32::MAX))
        .bind(Moment(now))
        .execute(store.pool())
        .await
        .map_err(StoreError::doing("change the policy of balance"))?;
    Ok(())
}
