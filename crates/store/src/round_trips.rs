//! Round trips of fetches: how far addresses are from the agents that crawl them.
//!
//! Packages bring them, and they are noted in the transaction that ingests them. A probe is
//! asked for; these come by themselves, also from subnets that were given to an agent without a
//! probe, and from many addresses of one subnet.

use std::collections::HashMap;
use std::net::IpAddr;

use hierarchy::Range;
use model::{AgentId, UnixMillis};
use sqlx::PgConnection;

use crate::columns::range;
use crate::host_tally::HostTally;
use crate::moment::Moment;
use crate::{Store, StoreError};

/// The shortest round trip of an agent's fetches from an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RoundTrip {
    /// What was fetched from.
    pub address: IpAddr,
    /// The agent that fetched.
    pub agent: AgentId,
    /// The round trip, in microseconds.
    pub rtt_us: u32,
}

/// What a package told of a subnet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SubnetRoundTrip {
    /// The subnet that it is about.
    pub subnet: Range,
    /// The shortest round trip in it.
    pub shortest: RoundTrip,
    /// Whether no probe and no fetch had told anything of the subnet before.
    pub is_new: bool,
    /// Whether so many packages have told of one of its addresses now that chance and congestion
    /// are no explanation.
    pub is_confirmed: bool,
}

/// Packages that confirm a round trip.
pub const CONFIRMED: i32 = 3;

type SubnetRow = (IpAddr, IpAddr, IpAddr, i32, bool, bool);

/// Notes the round trips that a package of `agent` tells of. Only addresses in the subnets of its
/// hosts count: a name may lead elsewhere, and an agent has no say about subnets that are not its.
pub(crate) async fn record_in(
    db: &mut PgConnection,
    agent: AgentId,
    hosts: &[HostTally],
    now: UnixMillis,
) -> Result<Vec<SubnetRoundTrip>, StoreError> {
    let found: Vec<_> = hosts
        .iter()
        .filter_map(|host| Some((host, host.round_trip.filter(|(_, us)| *us > 0)?)))
        .collect();
    if found.is_empty() {
        return Ok(Vec::new());
    }
    let rows: Vec<SubnetRow> = sqlx::query_as(RECORD)
        .bind(found.iter().map(|(host, _)| host.scheme.as_str()).collect::<Vec<_>>())
        .bind(found.iter().map(|(host, _)| host.authority.as_str()).collect::<Vec<_>>())
        .bind(found.iter().map(|(_, (address, _))| *address).collect::<Vec<_>>())
        .bind(
            found
                .iter()
                .map(|(_, (_, us))| i32::try_from(*us).unwrap_or(i32::MAX))
                .collect::<Vec<_>>(),
        )
        .bind(agent.get())
        .bind(Moment(now))
        .bind(CONFIRMED)
        .fetch_all(db)
        .await
        .map_err(StoreError::doing("note the round trips of fetches"))?;
    let read = |(first, last, address, rtt_us, is_new, is_confirmed): SubnetRow| {
        let shortest = RoundTrip { address, agent, rtt_us: rtt_us.unsigned_abs() };
        Ok(SubnetRoundTrip { subnet: range(first, last)?, shortest, is_new, is_confirmed })
    };
    rows.into_iter().map(read).collect()
}

/// What is a quarter of a year old is replaced, since ways change.
const RECORD: &str = include_str!("round_trips/note.sql");

type Row = (IpAddr, i64, i32);

fn round_trip((address, agent, rtt_us): Row) -> RoundTrip {
    RoundTrip { address, agent: AgentId::new(agent), rtt_us: rtt_us.unsigned_abs() }
}

/// The newest `limit` of them, in order of addresses.
pub async fn newest(store: &Store, limit: usize) -> Result<Vec<RoundTrip>, StoreError> {
    let rows: Vec<Row> = sqlx::query_as(
        "SELECT address, agent, rtt_us FROM
            (SELECT * FROM round_trips ORDER BY reported_at DESC, address, agent LIMIT $1) AS r
         ORDER BY address, agent",
    )
    .bind(i64::try_from(limit).unwrap_or(i64::MAX))
    .fetch_all(store.pool())
    .await
    .map_err(StoreError::doing("read the round trips of fetches"))?;
    Ok(rows.into_iter().map(round_trip).collect())
}

/// Most round trips of a subnet that are looked at.
const LOOKED_AT: i64 = 1_000;

/// The confirmed round trips in each of these subnets, in order of addresses.
pub async fn confirmed(
    store: &Store,
    subnets: &[Range],
) -> Result<HashMap<Range, Vec<RoundTrip>>, StoreError> {
    let rows: Vec<(IpAddr, IpAddr, IpAddr, i64, i32)> =
        sqlx::query_as(include_str!("round_trips/confirmed.sql"))
            .bind(subnets.iter().map(Range::first).collect::<Vec<_>>())
            .bind(subnets.iter().map(Range::last).collect::<Vec<_>>())
            .bind(CONFIRMED)
            .bind(LOOKED_AT)
            .fetch_all(store.pool())
            .await
            .map_err(StoreError::doing("read the round trips of subnets"))?;
    let mut found: HashMap<Range, Vec<RoundTrip>> = HashMap::new();
    for (first, last, address, agent, rtt_us) in rows {
        found.entry(range(first, last)?).or_default().push(round_trip((address, agent, rtt_us)));
    }
    Ok(found)
}
