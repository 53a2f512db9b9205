//! Hosts: their addresses, their subnets and their agents.

mod lookups;
mod remap;
mod waiting;

use std::net::IpAddr;

use hierarchy::Range;
use model::{AgentId, HostId, HostKey};

use crate::commit::commit;
use crate::delegations::give_waiting;
use crate::host_locks::lock_hosts;
use crate::{Store, StoreError};

pub use lookups::{
    FailedLookup, GivenUp, UnresolvedHost, defer_lookups, give_up, given_up, list_unresolved,
    record_failed_lookups, set_addresses,
};
pub use remap::{HostAddress, delegated, follow, remap, with_address};
pub use waiting::{WaitingHost, waiting_for_agent, waiting_in_subnets};
pub(crate) use waiting::{WaitingHostRow, waiting_host};

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
    .fetch_all(&store.pool())
    .await
    .map_err(StoreError::doing("list the hosts without a subnet"))?;
    Ok(rows.into_iter().map(|(id, address)| (HostId::new(id), address)).collect())
}

/// Stores the subnets of waiting hosts, and gives those whose subnet has an agent to it. Returns
/// how many were given.
pub async fn set_subnets(store: &Store, places: &[(HostId, Range)]) -> Result<u64, StoreError> {
    let doing = StoreError::doing("put hosts into their subnets");
    let hosts: Vec<i64> = places.iter().map(|(id, _)| id.get()).collect();
    let mut tx = store.begin().await.map_err(doing)?;
    // Otherwise an agent whose subnet is moved at this moment would keep these hosts.
    remap::holders(&mut tx, places, "FOR SHARE").await?;
    lock_hosts(&mut tx, &hosts).await?;
    sqlx::query(
        "UPDATE hosts h SET first = p.first, last = p.last
         FROM unnest($1::bigint[], $2::inet[], $3::inet[]) AS p (id, first, last)
         WHERE h.id = p.id AND h.state = 'resolved'",
    )
    .bind(&hosts)
    .bind(places.iter().map(|(_, subnet)| subnet.first()).collect::<Vec<_>>())
    .bind(places.iter().map(|(_, subnet)| subnet.last()).collect::<Vec<_>>())
    .execute(&mut *tx)
    .await
    .map_err(doing)?;
    let given = give_waiting(&mut tx, &hosts).await?;
    commit(tx).await.map_err(doing)?;
    Ok(given)
}

/// Selects those of the hosts that belong to another agent outside the agent's region.
pub async fn of_others(
    store: &Store,
    agent: AgentId,
    hosts: &[HostKey],
) -> Result<Vec<String>, StoreError> {
    let statement = "SELECT h.scheme || '://' || h.authority
         FROM unnest($2::text[], $3::text[]) AS n (scheme, authority)
         JOIN hosts h USING (scheme, authority)
         JOIN agents a ON a.id = h.agent
         JOIN agents me ON me.id = $1
         WHERE a.id <> me.id AND (me.region IS NULL OR a.region IS DISTINCT FROM me.region)";
    select(store, statement, agent, hosts).await
}

/// Selects those of the hosts on which an agent may not report, because they are not its own.
pub async fn foreign(
    store: &Store,
    agent: AgentId,
    hosts: &[HostKey],
) -> Result<Vec<String>, StoreError> {
    select(store, include_str!("foreign.sql"), agent, hosts).await
}

/// Selects some of the hosts by a statement about them and the agent.
async fn select(
    store: &Store,
    statement: &'static str,
    agent: AgentId,
    hosts: &[HostKey],
) -> Result<Vec<String>, StoreError> {
    sqlx::query_scalar(statement)
        .bind(agent.get())
        .bind(hosts.iter().map(HostKey::scheme).collect::<Vec<_>>())
        .bind(hosts.iter().map(HostKey::authority).collect::<Vec<_>>())
        .fetch_all(&store.pool())
        .await
        .map_err(StoreError::doing("see whose hosts these are"))
}
