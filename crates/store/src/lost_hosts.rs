//! Hosts that lost their agent with all that it knew of them.
//!
//! The next agent would begin at the front page: pages that were deleted or unlinked since would
//! stay in the search for ever. So the pages that are in the index are queued for it.

use model::{HostId, UnixMillis};
use sqlx::PgConnection;

use crate::commit::commit;
use crate::moment::Moment;
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

/// Notes those of these hosts that have pages and no bundle for their next agents.
pub(crate) async fn note(
    db: &mut PgConnection,
    hosts: &[i64],
    now: UnixMillis,
) -> Result<(), StoreError> {
    sqlx::query(include_str!("lost_hosts/note.sql"))
        .bind(hosts)
        .bind(Moment(now))
        .execute(db)
        .await
        .map_err(StoreError::doing("note hosts that lost their agents"))?;
    Ok(())
}

/// The next such hosts, at most `limit`, that have an agent again for which at most `most` URLs
/// wait.
pub async fn next(store: &Store, most: u32, limit: u32) -> Result<Vec<LostHost>, StoreError> {
    let found: Vec<(i64, String, String)> = sqlx::query_as(include_str!("lost_hosts/next.sql"))
        .bind(i64::from(most))
        .bind(i64::from(limit))
        .fetch_all(&store.pool())
        .await
        .map_err(StoreError::doing("find hosts that lost their agents"))?;
    let host = |(id, key, queued_to)| LostHost { id: HostId::new(id), key, queued_to };
    Ok(found.into_iter().map(host).collect())
}

/// Queues pages of such a host and notes how far this came; `next` is none after the last ones.
/// Returns how many were not queued yet.
pub async fn queue_pages(
    store: &Store,
    host: &LostHost,
    pages: &[NewUrl],
    next: Option<&str>,
    now: UnixMillis,
) -> Result<u64, StoreError> {
    let doing = StoreError::doing("queue the pages of a host that lost its agent");
    let mut tx = store.begin().await.map_err(doing)?;
    let queued = queue_in(&mut tx, pages, None, now).await?;
    let change = match next {
        Some(next) => {
            sqlx::query("UPDATE lost_hosts SET queued_to = $3 WHERE host = $1 AND queued_to = $2")
                .bind(host.id.get())
                .bind(&host.queued_to)
                .bind(next)
        }
        None => sqlx::query("DELETE FROM lost_hosts WHERE host = $1 AND queued_to = $2")
            .bind(host.id.get())
            .bind(&host.queued_to),
    };
    // If this changes nothing, the host was lost again meanwhile, and its pages are queued from the
    // first on.
    change.execute(&mut *tx).await.map_err(doing)?;
    commit(tx).await.map_err(doing)?;
    Ok(queued)
}
