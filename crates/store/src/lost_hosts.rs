//! Hosts that lost their agent with all that it knew of them.
//!
//! The next agent would begin at the front page: pages that were deleted or unlinked since would
//! stay in the search for ever. So the pages that are in the index are queued for it.

use model::{HostId, UnixMillis};

use crate::commit::commit;
use crate::urls::{NewUrl, queue_in};
use crate::{Store, StoreError};

/// A host whose pages are queued.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LostHost {
    /// Primary key of the host.
    pub id: HostId,
    /// Scheme and authority, as in `http://a.example:8080`.
    pub key: String,
    /// The last URL that was queued; empty before the first.
    pub queued_to: String,
}

/// The next such host that has an agent again; none while more than `most` URLs wait.
pub async fn next(store: &Store, most: u32) -> Result<Option<LostHost>, StoreError> {
    let found: Option<(i64, String, String)> = sqlx::query_as(include_str!("lost_hosts/next.sql"))
        .bind(i64::from(most))
        .fetch_optional(store.pool())
        .await
        .map_err(StoreError::doing("find a host that lost its agent"))?;
    Ok(found.map(|(id, key, queued_to)| LostHost { id: HostId::new(id), key, queued_to }))
}

/// Queues pages of such a host and notes how far this came; `next` is none after the last ones.
/// Returns how many were not queued yet.
pub async fn queue_pages(
    store: &Store,
    host: HostId,
    pages: &[NewUrl],
    next: Option<&str>,
    now: UnixMillis,
) -> Result<u64, StoreError> {
    let doing = StoreError::doing("queue the pages of a host that lost its agent");
    let mut tx = store.pool().begin().await.map_err(doing)?;
    let queued = queue_in(&mut tx, pages, None, now).await?;
    let statement = match next {
        Some(_) => "UPDATE lost_hosts SET queued_to = $2 WHERE host = $1",
        None => "DELETE FROM lost_hosts WHERE host = $1 AND $2::text IS NULL",
    };
    sqlx::query(statement).bind(host.get()).bind(next).execute(&mut *tx).await.map_err(doing)?;
    commit(tx).await.map_err(doing)?;
    Ok(queued)
}
