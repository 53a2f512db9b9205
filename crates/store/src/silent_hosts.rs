//! Silent hosts: no fetch has brought an answer for thirty days. Searches leave their pages out
//! until they answer again.

use crate::{Store, StoreError};

/// The silent hosts with pages, each as in `https://example.org:8443`: at most `limit`, those silent
/// for longest.
pub async fn list(store: &Store, limit: u32) -> Result<Vec<String>, StoreError> {
    sqlx::query_scalar(include_str!("silent_hosts/list.sql"))
        .bind(i64::from(limit))
        .fetch_all(&store.pool())
        .await
        .map_err(StoreError::doing("list the hosts that have not answered for long"))
}
