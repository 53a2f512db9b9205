//! Hosts in subnets without an agent.

use std::net::IpAddr;

use hierarchy::Range;
use model::{HostId, UnixMillis};

use crate::columns::range;
use crate::moment::Moment;
use crate::{Store, StoreError};

/// A host whose subnet has neither an agent nor an open search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitingHost {
    pub subnet: Range,
    pub address: IpAddr,
    /// http or https.
    pub scheme: String,
    /// Host name or address, with the port where it is not the default.
    pub authority: String,
}

/// The next `limit` hosts after `after` that wait for an agent, each with its subnet, in order of
/// their number.
///
/// Whether the subnet has an agent or an open search is looked up in the delegation table in
/// memory: a lookup here for each host would take five times as long as this query.
pub async fn waiting_for_agent(
    store: &Store,
    after: HostId,
    limit: u32,
    now: UnixMillis,
) -> Result<Vec<(HostId, Range)>, StoreError> {
    let rows: Vec<(i64, IpAddr, IpAddr)> = sqlx::query_as(include_str!("waiting_for_agent.sql"))
        .bind(after.get())
        .bind(i64::from(limit))
        .bind(Moment(now))
        .fetch_all(&store.pool())
        .await
        .map_err(StoreError::doing("list the hosts that wait for an agent"))?;
    rows.into_iter().map(|(id, first, last)| Ok((HostId::new(id), range(first, last)?))).collect()
}

/// One waiting host each of these subnets, in their order: the one that failed least. A host whose
/// address answered no agent since `forgiven` is taken only where there is no other. Subnets
/// without a waiting host are left out.
pub async fn waiting_in_subnets(
    store: &Store,
    subnets: &[Range],
    forgiven: UnixMillis,
    now: UnixMillis,
) -> Result<Vec<WaitingHost>, StoreError> {
    let rows: Vec<WaitingHostRow> = sqlx::query_as(include_str!("waiting_in_subnets.sql"))
        .bind(subnets.iter().map(Range::first).collect::<Vec<_>>())
        .bind(subnets.iter().map(Range::last).collect::<Vec<_>>())
        .bind(Moment(now))
        .bind(Moment(forgiven))
        .fetch_all(&store.pool())
        .await
        .map_err(StoreError::doing("choose what to probe in subnets"))?;
    rows.into_iter().map(waiting_host).collect()
}

/// First, last, address, scheme, authority.
pub(crate) type WaitingHostRow = (IpAddr, IpAddr, IpAddr, String, String);

pub(crate) fn waiting_host(
    (first, last, address, scheme, authority): WaitingHostRow,
) -> Result<WaitingHost, StoreError> {
    Ok(WaitingHost { subnet: range(first, last)?, address, scheme, authority })
}
