//! Hosts whose agents connect to addresses outside of the hosts' subnets: they may have moved to
//! another network.

use std::net::IpAddr;

use hierarchy::Range;
use model::{AgentId, HostId, UnixMillis};
use sqlx::PgConnection;

use crate::columns::range;
use crate::host_tally::HostTally;
use crate::moment::Moment;
use crate::{Store, StoreError};

/// Packages in a row after which a host is looked up again. They are an hour apart, so that an
/// answer of a name server that is wrong for a moment moves nothing.
const PACKAGES: i16 = 3;

/// A host to be looked up again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StrayHost {
    /// Primary key of the row.
    pub id: HostId,
    /// Host name or address, with the port where it is not the default.
    pub authority: String,
    /// The subnet that it has now.
    pub subnet: Range,
}

/// Counts those hosts of a package whose connections led out of their subnets.
pub(crate) async fn count_in(
    db: &mut PgConnection,
    agent: AgentId,
    hosts: &[HostTally],
    now: UnixMillis,
) -> Result<(), StoreError> {
    let connected: Vec<(&HostTally, IpAddr)> =
        hosts.iter().filter_map(|host| Some((host, host.connect?.0))).collect();
    if connected.is_empty() {
        return Ok(());
    }
    sqlx::query(include_str!("stray_hosts/count.sql"))
        .bind(connected.iter().map(|(host, _)| host.scheme.as_str()).collect::<Vec<_>>())
        .bind(connected.iter().map(|(host, _)| host.authority.as_str()).collect::<Vec<_>>())
        .bind(connected.iter().map(|(_, address)| *address).collect::<Vec<_>>())
        .bind(agent.get())
        .bind(Moment(now))
        .bind(PACKAGES)
        .execute(db)
        .await
        .map_err(StoreError::doing("count the hosts outside of their subnets"))?;
    Ok(())
}

/// Hosts to be looked up again, the longest known first.
pub async fn due(store: &Store, limit: u32) -> Result<Vec<StrayHost>, StoreError> {
    let rows: Vec<(i64, String, IpAddr, IpAddr)> = sqlx::query_as(
        "SELECT h.id, h.authority, h.first, h.last
         FROM stray_hosts s JOIN hosts h ON h.id = s.host
         WHERE s.packages = $1 AND h.state = 'delegated' AND h.first IS NOT NULL
         ORDER BY s.counted_at LIMIT $2",
    )
    .bind(PACKAGES)
    .bind(i64::from(limit))
    .fetch_all(&store.pool())
    .await
    .map_err(StoreError::doing("list the hosts to be looked up again"))?;
    let host = |(id, authority, first, last)| {
        Ok(StrayHost { id: HostId::new(id), authority, subnet: range(first, last)? })
    };
    rows.into_iter().map(host).collect()
}

/// Stores that hosts were looked up again: their packages count again from `from` on.
pub async fn pause(store: &Store, hosts: &[HostId], from: UnixMillis) -> Result<(), StoreError> {
    sqlx::query("UPDATE stray_hosts SET packages = 0, counted_at = $2 WHERE host = ANY($1)")
        .bind(hosts.iter().map(|id| id.get()).collect::<Vec<_>>())
        .bind(Moment(from))
        .execute(&store.pool())
        .await
        .map_err(StoreError::doing("store that hosts were looked up again"))?;
    Ok(())
}

/// Stores that lookups of hosts at `now` had no answer. The hosts are looked up again after their
/// next package, an hour later or more.
pub async fn try_again(store: &Store, hosts: &[HostId], now: UnixMillis) -> Result<(), StoreError> {
    sqlx::query("UPDATE stray_hosts SET packages = $3, counted_at = $2 WHERE host = ANY($1)")
        .bind(hosts.iter().map(|id| id.get()).collect::<Vec<_>>())
        .bind(Moment(now))
        .bind(PACKAGES - 1)
        .execute(&store.pool())
        .await
        .map_err(StoreError::doing("store that lookups had no answer"))?;
    Ok(())
}
