//! Silent hosts: no fetch has brought an answer for thirty days. Searches leave their pages out
//! until they answer again.

use crate::{Store, StoreError};

/// Most hosts that are listed, so that they fit into the memory of each coordinator.
pub const HOSTS_MAX: usize = 500_000;

/// The silent hosts with pages, each as in `https://example.org:8443`: those silent for longest, at
/// most [`HOSTS_MAX`].
pub async fn list(store: &Store) -> Result<Vec<String>, StoreError> {
    sqlx::query_scalar(include_str!("silent_hosts/list.sql"))
        .bind(i64::try_from(HOSTS_MAX).unwrap_or(i64::MAX))
        .fetch_all(&store.pool())
        .await
        .map_err(StoreError::doing("list the hosts that have not answered for long"))
}
