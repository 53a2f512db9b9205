//! Lookups of hosts: which may be done now, and what came of them.

use std::net::IpAddr;

use model::{HostId, HostKey, UnixMillis};

use crate::host_locks::lock_hosts;
use crate::line::one_line;
use crate::moment::Moment;
use crate::{Store, StoreError, urls};

/// Hosts read of one source at a time; the newest, the oldest and the repeated ones each.
const PER_SOURCE: i64 = 128;

/// A host without an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnresolvedHost {
    /// Its name here.
    pub id: HostId,
    /// Host name or address, with the port where it is not the default.
    pub authority: String,
    /// Lookups that failed in a row.
    pub attempts: u32,
}

/// A host that was given up, and is not tried again yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GivenUp {
    /// Scheme and authority, as [`HostKey::as_str`] has them.
    pub key: String,
    /// Why it was given up.
    pub reason: String,
}

/// Those of some hosts whose seeds are dropped now, because they were given up lately for their
/// addresses. A seed has the others looked up again, also those that were silent several times.
pub async fn given_up(
    store: &Store,
    hosts: &[HostKey],
    now: UnixMillis,
) -> Result<Vec<GivenUp>, StoreError> {
    let rows: Vec<(String, String)> = sqlx::query_as(
        "SELECT DISTINCT h.scheme || '://' || h.authority, coalesce(h.reason, '')
         FROM unnest($1::text[], $2::text[]) AS k (scheme, authority)
         JOIN hosts h ON h.scheme = k.scheme AND h.authority = k.authority
         WHERE h.state = 'failed' AND h.retry_at > $3 AND h.address IS NOT NULL
               AND h.silences <= 1",
    )
    .bind(hosts.iter().map(HostKey::scheme).collect::<Vec<_>>())
    .bind(hosts.iter().map(HostKey::authority).collect::<Vec<_>>())
    .bind(Moment(now))
    .fetch_all(&store.pool())
    .await
    .map_err(StoreError::doing("look for hosts that were given up"))?;
    Ok(rows.into_iter().map(|(key, reason)| GivenUp { key, reason }).collect())
}

/// Hosts whose address may be looked up now, without those in `busy`: first lookups before repeated
/// ones, and the sources in turn.
pub async fn list_unresolved(
    store: &Store,
    limit: u32,
    busy: &[HostId],
    now: UnixMillis,
) -> Result<Vec<UnresolvedHost>, StoreError> {
    let rows: Vec<(i64, String, i16)> = sqlx::query_as(include_str!("unresolved.sql"))
        .bind(Moment(now))
        .bind(busy.iter().map(|id| id.get()).collect::<Vec<_>>())
        .bind(PER_SOURCE)
        .bind(i64::from(limit))
        .fetch_all(&store.pool())
        .await
        .map_err(StoreError::doing("list the hosts without an address"))?;
    Ok(rows
        .into_iter()
        .map(|(id, authority, attempts)| UnresolvedHost {
            id: HostId::new(id),
            authority,
            attempts: u32::from(attempts.unsigned_abs()),
        })
        .collect())
}

/// Moves lookups to a later time, without counting an attempt.
pub async fn defer_lookups(
    store: &Store,
    deferred: &[(HostId, UnixMillis)],
) -> Result<(), StoreError> {
    let doing = StoreError::doing("defer lookups of hosts");
    let hosts: Vec<i64> = deferred.iter().map(|(id, _)| id.get()).collect();
    let mut tx = store.begin().await.map_err(doing)?;
    lock_hosts(&mut tx, &hosts).await?;
    sqlx::query(
        "UPDATE hosts h SET retry_at = d.retry_at
         FROM unnest($1::bigint[], $2::timestamptz[]) AS d (id, retry_at)
         WHERE h.id = d.id AND h.state = 'unresolved'",
    )
    .bind(&hosts)
    .bind(deferred.iter().map(|(_, at)| Moment(*at)).collect::<Vec<_>>())
    .execute(&mut *tx)
    .await
    .map_err(doing)?;
    tx.commit().await.map_err(doing)
}

/// Stores resolved addresses.
pub async fn set_addresses(store: &Store, found: &[(HostId, IpAddr)]) -> Result<(), StoreError> {
    let doing = StoreError::doing("write down addresses of hosts");
    let hosts: Vec<i64> = found.iter().map(|(id, _)| id.get()).collect();
    let mut tx = store.begin().await.map_err(doing)?;
    lock_hosts(&mut tx, &hosts).await?;
    sqlx::query(
        "UPDATE hosts h SET state = 'resolved', address = f.address, first = NULL, last = NULL,
                            attempts = 0, reason = NULL
         FROM unnest($1::bigint[], $2::inet[]) AS f (id, address)
         WHERE h.id = f.id AND h.state = 'unresolved'",
    )
    .bind(&hosts)
    .bind(found.iter().map(|(_, address)| *address).collect::<Vec<_>>())
    .execute(&mut *tx)
    .await
    .map_err(doing)?;
    tx.commit().await.map_err(doing)
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedLookup {
    /// The host that was looked up.
    pub id: HostId,
    /// Why, in one line.
    pub reason: String,
    /// Not before this is it looked up again; once given up, not before this does a new URL revive
    /// it.
    pub retry_at: UnixMillis,
    /// Whether it is an attempt that counts.
    pub counts: bool,
    /// Whether it is given up.
    pub give_up: bool,
}

/// Stores failed lookups. The URLs that wait for a host that is given up are deleted.
pub async fn record_failed_lookups(
    store: &Store,
    failed: &[FailedLookup],
) -> Result<(), StoreError> {
    let doing = StoreError::doing("write down hosts without an address");
    let hosts: Vec<i64> = failed.iter().map(|f| f.id.get()).collect();
    let mut tx = store.begin().await.map_err(doing)?;
    lock_hosts(&mut tx, &hosts).await?;
    let given_up: Vec<i64> = sqlx::query_scalar(include_str!("record_failed_lookups.sql"))
        .bind(&hosts)
        .bind(failed.iter().map(|f| one_line(&f.reason)).collect::<Vec<_>>())
        .bind(failed.iter().map(|f| Moment(f.retry_at)).collect::<Vec<_>>())
        .bind(failed.iter().map(|f| f.counts).collect::<Vec<_>>())
        .bind(failed.iter().map(|f| f.give_up).collect::<Vec<_>>())
        .fetch_all(&mut *tx)
        .await
        .map_err(doing)?;
    urls::drop_waiting(&mut tx, &given_up).await?;
    tx.commit().await.map_err(doing)
}

/// Gives up hosts with an address and without a subnet, each for a reason. A new URL has them
/// looked up again after `retry_at`. The URLs that wait for them are deleted.
pub async fn give_up(
    store: &Store,
    refused: &[(HostId, String)],
    retry_at: UnixMillis,
) -> Result<(), StoreError> {
    let doing = StoreError::doing("give hosts up");
    let hosts: Vec<i64> = refused.iter().map(|(id, _)| id.get()).collect();
    let mut tx = store.begin().await.map_err(doing)?;
    lock_hosts(&mut tx, &hosts).await?;
    // Another coordinator may have placed some of them meanwhile.
    let given_up: Vec<i64> = sqlx::query_scalar(
        "UPDATE hosts h SET state = 'failed', reason = r.reason, retry_at = $3
         FROM unnest($1::bigint[], $2::text[]) AS r (id, reason)
         WHERE h.id = r.id AND h.state = 'resolved' AND h.first IS NULL RETURNING h.id",
    )
    .bind(&hosts)
    .bind(refused.iter().map(|(_, reason)| one_line(reason)).collect::<Vec<_>>())
    .bind(Moment(retry_at))
    .fetch_all(&mut *tx)
    .await
    .map_err(doing)?;
    urls::drop_waiting(&mut tx, &given_up).await?;
    tx.commit().await.map_err(doing)
}
