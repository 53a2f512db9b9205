//! Moves hosts to their subnets in a new generation of the hierarchy.

use std::net::IpAddr;

use hierarchy::Range;
use model::{AgentId, HostId, UnixMillis};
use sqlx::PgConnection;

use super::{WaitingHost, waiting_host};
use crate::columns::range;
use crate::commit::commit;
use crate::delegations::give_hosts;
use crate::gift::Gift;
use crate::host_locks::lock_hosts;
use crate::{Store, StoreError, loads};

/// A host with an address and its subnet, with or without an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostAddress {
    /// Primary key of the row.
    pub id: HostId,
    pub address: IpAddr,
    /// Its subnet; none when it was never put anywhere.
    pub subnet: Option<Range>,
}

type AddressRow = (i64, IpAddr, Option<IpAddr>, Option<IpAddr>);

/// Hosts with an address after `after`, in order of their number.
pub async fn with_address(
    store: &Store,
    after: HostId,
    limit: u32,
) -> Result<Vec<HostAddress>, StoreError> {
    let rows: Vec<AddressRow> = sqlx::query_as(include_str!("with_address.sql"))
        .bind(after.get())
        .bind(i64::from(limit))
        .fetch_all(&store.pool())
        .await
        .map_err(StoreError::doing("list the hosts with an address"))?;
    let host = |(id, address, first, last): AddressRow| {
        let subnet = first.zip(last).map(|(first, last)| range(first, last)).transpose()?;
        Ok(HostAddress { id: HostId::new(id), address, subnet })
    };
    rows.into_iter().map(host).collect()
}

/// Moves hosts to other subnets in one transaction. Each follows the delegation of its new subnet:
/// a host of another agent is handed over; a host in a subnet without an agent stays with its
/// agent. Returns the agents that have to release hosts.
pub async fn remap(
    store: &Store,
    places: &[(HostId, Range)],
    now: UnixMillis,
) -> Result<Vec<AgentId>, StoreError> {
    let doing = StoreError::doing("move hosts to their new subnets");
    let mut tx = store.begin().await.map_err(doing)?;
    let moving = remap_in(&mut tx, places, now).await?;
    commit(tx).await.map_err(doing)?;
    Ok(moving)
}

/// Moves hosts to other addresses and their subnets, as [`remap`] does.
pub async fn follow(
    store: &Store,
    moved: &[(HostId, IpAddr, Range)],
    now: UnixMillis,
) -> Result<Vec<AgentId>, StoreError> {
    let doing = StoreError::doing("move hosts to their new addresses");
    let mut tx = store.begin().await.map_err(doing)?;
    let places: Vec<_> = moved.iter().map(|(id, _, subnet)| (*id, *subnet)).collect();
    let moving = remap_in(&mut tx, &places, now).await?;
    sqlx::query(
        "UPDATE hosts h SET address = m.address
         FROM unnest($1::bigint[], $2::inet[]) AS m (id, address)
         WHERE h.id = m.id AND h.state IN ('resolved', 'delegated', 'moving')",
    )
    .bind(moved.iter().map(|(id, ..)| id.get()).collect::<Vec<_>>())
    .bind(moved.iter().map(|(_, address, _)| *address).collect::<Vec<_>>())
    .execute(&mut *tx)
    .await
    .map_err(doing)?;
    commit(tx).await.map_err(doing)?;
    Ok(moving)
}

async fn remap_in(
    db: &mut PgConnection,
    places: &[(HostId, Range)],
    now: UnixMillis,
) -> Result<Vec<AgentId>, StoreError> {
    let doing = StoreError::doing("move hosts to their new subnets");
    // Locks the delegations of the new subnets: a concurrent delegation is awaited, or waits and
    // then sees these hosts.
    holders(db, places, "FOR SHARE").await?;
    let hosts: Vec<i64> = places.iter().map(|(id, _)| id.get()).collect();
    // Before the days of their agents, as ingestion does.
    lock_hosts(db, &hosts).await?;
    loads::move_hosts(db, places).await?;
    sqlx::query(
        "UPDATE hosts h SET first = p.first, last = p.last
         FROM unnest($1::bigint[], $2::inet[], $3::inet[]) AS p (id, first, last)
         WHERE h.id = p.id AND h.state IN ('resolved', 'delegated', 'moving')",
    )
    .bind(&hosts)
    .bind(places.iter().map(|(_, subnet)| subnet.first()).collect::<Vec<_>>())
    .bind(places.iter().map(|(_, subnet)| subnet.last()).collect::<Vec<_>>())
    .execute(&mut *db)
    .await
    .map_err(doing)?;
    let holders = holders(db, places, "").await?;
    let gifts: Vec<Gift> =
        holders.into_iter().map(|(subnet, agent)| Gift::new(subnet, agent)).collect();
    give_hosts(db, &gifts, now).await?;
    let moving: Vec<i64> = sqlx::query_scalar(include_str!("moving_agents.sql"))
        .bind(&hosts)
        .fetch_all(db)
        .await
        .map_err(doing)?;
    Ok(moving.into_iter().map(AgentId::new).collect())
}

/// The agents of the subnets that hosts move to, where there is one.
pub(super) async fn holders(
    db: &mut PgConnection,
    places: &[(HostId, Range)],
    lock: &'static str,
) -> Result<Vec<(Range, AgentId)>, StoreError> {
    const READ: &str = include_str!("holders.sql");
    let rows: Vec<(IpAddr, IpAddr, i64)> =
        sqlx::query_as(sqlx::AssertSqlSafe([READ, lock].concat()))
            .bind(places.iter().map(|(_, subnet)| subnet.first()).collect::<Vec<_>>())
            .bind(places.iter().map(|(_, subnet)| subnet.last()).collect::<Vec<_>>())
            .fetch_all(db)
            .await
            .map_err(StoreError::doing("see who has the subnets of hosts"))?;
    rows.into_iter()
        .map(|(first, last, agent)| Ok((range(first, last)?, AgentId::new(agent))))
        .collect()
}

/// Hosts with an agent after `after`, in order of their number, with the number of the last one.
pub async fn delegated(
    store: &Store,
    after: HostId,
    limit: u32,
) -> Result<(Vec<WaitingHost>, Option<HostId>), StoreError> {
    let rows: Vec<(i64, IpAddr, IpAddr, IpAddr, String, String)> =
        sqlx::query_as(include_str!("delegated.sql"))
            .bind(after.get())
            .bind(i64::from(limit))
            .fetch_all(&store.pool())
            .await
            .map_err(StoreError::doing("list the hosts with an agent"))?;
    let last = rows.last().map(|row| HostId::new(row.0));
    let read = |(_, first, last, address, scheme, authority)| {
        waiting_host((first, last, address, scheme, authority))
    };
    Ok((rows.into_iter().map(read).collect::<Result<_, _>>()?, last))
}
