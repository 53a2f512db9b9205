//! Hosts: their addresses, their subnets and their agents.

mod remap;
mod waiting;

use std::net::IpAddr;

use hierarchy::Range;
use model::{AgentId, HostId, UnixMillis};

use crate::line::one_line;
use crate::moment::Moment;
use crate::{Store, StoreError, urls};

pub use remap::{HostAddress, remap, undelegated, with_address};
pub use waiting::{WaitingHost, waiting_for_agent, waiting_in_subnets};
pub(crate) use waiting::{WaitingHostRow, waiting_host};

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

/// Hosts whose address may be looked up now, those waiting longest first.
pub async fn list_unresolved(
    store: &Store,
    limit: u32,
    now: UnixMillis,
) -> Result<Vec<UnresolvedHost>, StoreError> {
    let rows: Vec<(i64, String, i16)> = sqlx::query_as(
        "SELECT id, authority, attempts FROM hosts
         WHERE state = 'unresolved' AND retry_at <= $1 ORDER BY retry_at, id LIMIT $2",
    )
    .bind(Moment(now))
    .bind(i64::from(limit))
    .fetch_all(store.pool())
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

/// Stores resolved addresses.
pub async fn set_addresses(store: &Store, found: &[(HostId, IpAddr)]) -> Result<(), StoreError> {
    sqlx::query(
        "UPDATE hosts h SET state = 'resolved', address = f.address, first = NULL, last = NULL,
                            attempts = 0, reason = NULL
         FROM unnest($1::bigint[], $2::inet[]) AS f (id, address)
         WHERE h.id = f.id AND h.state = 'unresolved'",
    )
    .bind(found.iter().map(|(id, _)| id.get()).collect::<Vec<_>>())
    .bind(found.iter().map(|(_, address)| *address).collect::<Vec<_>>())
    .execute(store.pool())
    .await
    .map_err(StoreError::doing("write down addresses of hosts"))?;
    Ok(())
}

/// A lookup that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedLookup {
    /// The host that was looked up.
    pub id: HostId,
    /// Why, in one line.
    pub reason: String,
    /// Not before this is it looked up again; once given up, not before this does a new URL revive
    /// it.
    pub retry_at: UnixMillis,
    /// Whether it is given up.
    pub give_up: bool,
}

/// Stores failed lookups. The URLs that wait for a host that is given up are deleted.
pub async fn record_failed_lookups(
    store: &Store,
    failed: &[FailedLookup],
) -> Result<(), StoreError> {
    let doing = StoreError::doing("write down hosts without an address");
    let mut tx = store.pool().begin().await.map_err(doing)?;
    sqlx::query(include_str!("record_failed_lookups.sql"))
        .bind(failed.iter().map(|f| f.id.get()).collect::<Vec<_>>())
        .bind(failed.iter().map(|f| one_line(&f.reason)).collect::<Vec<_>>())
        .bind(failed.iter().map(|f| Moment(f.retry_at)).collect::<Vec<_>>())
        .bind(failed.iter().map(|f| f.give_up).collect::<Vec<_>>())
        .execute(&mut *tx)
        .await
        .map_err(doing)?;
    let given_up: Vec<i64> = failed.iter().filter(|f| f.give_up).map(|f| f.id.get()).collect();
    urls::drop_waiting(&mut tx, &given_up).await?;
    tx.commit().await.map_err(doing)
}

/// Hosts with an address and without a subnet, in the order of their ids.
pub async fn without_subnet(
    store: &Store,
    limit: u32,
) -> Result<Vec<(HostId, IpAddr)>, StoreError> {
    let rows: Vec<(i64, IpAddr)> = sqlx::query_as(
        "SELECT id, address FROM hosts
         WHERE state = 'resolved' AND address IS NOT NULL AND first IS NULL ORDER BY id LIMIT $1",
    )
    .bind(i64::from(limit))
    .fetch_all(store.pool())
    .await
    .map_err(StoreError::doing("list the hosts without a subnet"))?;
    Ok(rows.into_iter().map(|(id, address)| (HostId::new(id), address)).collect())
}

/// Stores the subnets of waiting hosts.
pub async fn set_subnets(store: &Store, places: &[(HostId, Range)]) -> Result<(), StoreError> {
    sqlx::query(
        "UPDATE hosts h SET first = p.first, last = p.last
         FROM unnest($1::bigint[], $2::inet[], $3::inet[]) AS p (id, first, last)
         WHERE h.id = p.id AND h.state = 'resolved'",
    )
    .bind(places.iter().map(|(id, _)| id.get()).collect::<Vec<_>>())
    .bind(places.iter().map(|(_, subnet)| subnet.first()).collect::<Vec<_>>())
    .bind(places.iter().map(|(_, subnet)| subnet.last()).collect::<Vec<_>>())
    .execute(store.pool())
    .await
    .map_err(StoreError::doing("put hosts into their subnets"))?;
    Ok(())
}

/// Selects the hosts (scheme and authority) that an agent may report on in a package received at
/// this time: its present hosts, and those that it had when the package arrived.
pub async fn of_agent(
    store: &Store,
    agent: AgentId,
    received_at: UnixMillis,
    hosts: &[(String, String)],
) -> Result<Vec<(String, String)>, StoreError> {
    sqlx::query_as(include_str!("of_agent.sql"))
        .bind(agent.get())
        .bind(hosts.iter().map(|(scheme, _)| scheme.as_str()).collect::<Vec<_>>())
        .bind(hosts.iter().map(|(_, authority)| authority.as_str()).collect::<Vec<_>>())
        .bind(Moment(received_at))
        .fetch_all(store.pool())
        .await
        .map_err(StoreError::doing("see whose hosts these are"))
}
