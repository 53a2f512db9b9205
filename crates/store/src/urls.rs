//! URLs that wait for the agent of their host.

use std::collections::BTreeSet;

use model::{AgentId, CrawlUrl, HostKey, UnixMillis};
use serde_json::Value;
use sqlx::PgConnection;

use crate::audit::{self, Entry};
use crate::commit::commit;
use crate::discovery;
use crate::host_locks::lock_known;
use crate::moment::Moment;
use crate::{Store, StoreError};

/// A URL to be crawled.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NewUrl {
    /// The URL without its fragment.
    pub url: CrawlUrl,
    /// Redirects followed on the way to it.
    pub redirects: u8,
}

/// Queues seeds and writes the entry of the audit log, both or neither. `detail` is called with the
/// URLs that were not queued yet, which are returned as well.
pub async fn queue_seeds(
    store: &Store,
    urls: &[NewUrl],
    actor: &str,
    detail: impl FnOnce(&[String]) -> Value,
    now: UnixMillis,
) -> Result<Vec<String>, StoreError> {
    let doing = StoreError::doing("queue seeds");
    let mut tx = store.begin().await.map_err(doing)?;
    let (_, queued) = insert(&mut tx, urls, None, true, now).await?;
    let entry = Entry::new(actor, "seeds.add", "seeds", detail(&queued));
    audit::write_in(&mut tx, &entry, now).await?;
    commit(tx).await.map_err(doing)?;
    Ok(queued)
}

/// The agent that found URLs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FoundBy {
    pub(crate) agent: AgentId,
    /// When its package was received: they count as URLs of that day.
    pub(crate) received_at: UnixMillis,
}

/// Queues URLs for routing, with their hosts, as part of a larger transaction, for the agent that
/// found the URLs. URLs of hosts that were given up lately are left out, except seeds of hosts that
/// the DNS did not know. Returns how many were not queued yet.
pub(crate) async fn queue_in(
    db: &mut PgConnection,
    urls: &[NewUrl],
    found_by: Option<FoundBy>,
    now: UnixMillis,
) -> Result<u64, StoreError> {
    let (queued, _) = insert(db, urls, found_by, false, now).await?;
    Ok(queued)
}

/// [`queue_in`]; also returns the URLs that were not queued yet, if they are to be `listed`.
async fn insert(
    db: &mut PgConnection,
    urls: &[NewUrl],
    found_by: Option<FoundBy>,
    listed: bool,
    now: UnixMillis,
) -> Result<(u64, Vec<String>), StoreError> {
    if urls.is_empty() {
        return Ok((0, Vec::new()));
    }
    let hosts: Vec<HostKey> = urls.iter().map(|new| new.url.host_key()).collect();
    let agent = found_by.map(|found_by| found_by.agent);
    let new_hosts = meet_hosts(db, &hosts, agent, now).await?;
    let (count, queued): (i64, Vec<String>) = sqlx::query_as(include_str!("urls/queue.sql"))
        .bind(hosts.iter().map(HostKey::scheme).collect::<Vec<_>>())
        .bind(hosts.iter().map(HostKey::authority).collect::<Vec<_>>())
        .bind(urls.iter().map(|new| new.url.as_str()).collect::<Vec<_>>())
        .bind(urls.iter().map(|new| i16::from(new.redirects)).collect::<Vec<_>>())
        .bind(Moment(now))
        .bind(found_by.is_some())
        .bind(listed)
        .fetch_one(&mut *db)
        .await
        .map_err(StoreError::doing("queue URLs"))?;
    let count = count.unsigned_abs();
    if let Some(FoundBy { agent, received_at }) = found_by {
        discovery::count_queued(db, agent, count, new_hosts, received_at).await?;
    }
    Ok((count, queued))
}

/// Inserts new hosts, and revives hosts that were given up long enough ago; for seeds, also those
/// that the DNS did not know. Returns the number of both.
async fn meet_hosts(
    db: &mut PgConnection,
    hosts: &[HostKey],
    found_by: Option<AgentId>,
    now: UnixMillis,
) -> Result<u64, StoreError> {
    let hosts: BTreeSet<&HostKey> = hosts.iter().collect();
    // The statement locks known hosts in the order of their names.
    lock_known(db, hosts.iter().map(|host| (host.scheme(), host.authority()))).await?;
    let met = sqlx::query(include_str!("urls/meet_hosts.sql"))
        .bind(hosts.iter().map(|host| host.scheme()).collect::<Vec<_>>())
        .bind(hosts.iter().map(|host| host.authority()).collect::<Vec<_>>())
        .bind(Moment(now))
        .bind(found_by.map_or(0, AgentId::get))
        .execute(db)
        .await
        .map_err(StoreError::doing("enter hosts"))?;
    Ok(met.rows_affected())
}

/// Deletes the waiting URLs of these hosts.
pub(crate) async fn drop_waiting(db: &mut PgConnection, hosts: &[i64]) -> Result<(), StoreError> {
    if hosts.is_empty() {
        return Ok(());
    }
    sqlx::query("DELETE FROM pending_urls WHERE host = ANY($1)")
        .bind(hosts)
        .execute(db)
        .await
        .map_err(StoreError::doing("drop the URLs of hosts that were given up"))?;
    Ok(())
}
