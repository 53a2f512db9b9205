//! The quotas on what agents discover.

use model::UnixMillis;
use model::policy::DiscoveryQuotas;

use crate::moment::Moment;
use crate::{Store, StoreError};

/// Reads the quotas.
pub async fn discovery(store: &Store) -> Result<DiscoveryQuotas, StoreError> {
    let row: (i32, i32, i32) = sqlx::query_as(
        "SELECT discovered_urls_per_agent, discovered_hosts_per_agent, discovered_urls_per_host
         FROM policy",
    )
    .fetch_one(store.pool())
    .await
    .map_err(StoreError::doing("read the quotas of discovery"))?;
    Ok(DiscoveryQuotas {
        urls_per_agent: row.0.unsigned_abs(),
        hosts_per_agent: row.1.unsigned_abs(),
        urls_per_host: row.2.unsigned_abs(),
    })
}

/// Replaces the quotas.
pub async fn set_discovery(
    store: &Store,
    quotas: &DiscoveryQuotas,
    now: UnixMillis,
) -> Result<(), StoreError> {
    let column = |value: u32| i32::try_from(value).unwrap_or(i32::MAX);
    sqlx::query(
        "UPDATE policy SET discovered_urls_per_agent = $1, discovered_hosts_per_agent = $2,
                           discovered_urls_per_host = $3, changed_at = $4",
    )
    .bind(column(quotas.urls_per_agent))
    .bind(column(quotas.hosts_per_agent))
    .bind(column(quotas.urls_per_host))
    .bind(Moment(now))
    .execute(store.pool())
    .await
    .map_err(StoreError::doing("change the quotas of discovery"))?;
    Ok(())
}
