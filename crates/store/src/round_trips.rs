//! Round trips of fetches: the distances of addresses from the agents that crawl them.
//!
//! Packages bring them, and the transaction that ingests a package stores them. Unlike probes they
//! cost nothing; they also come from subnets that were delegated without a probe, and from many
//! addresses of one subnet.

use std::net::IpAddr;

use hierarchy::Range;
use model::{AgentId, UnixMillis};
use sqlx::PgConnection;

use crate::columns::{int, range};
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

/// The round trip of a package to a subnet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubnetRoundTrip {
    pub subnet: Range,
    /// The shortest round trip in it.
    pub shortest: RoundTrip,
    /// Addresses in it for which this package is the [`CONFIRMED`]th that counts, so that chance
    /// and congestion do not explain the time, or makes a confirmed time shorter.
    pub confirmed: Vec<IpAddr>,
}

/// Packages that confirm a round trip, each with a handshake of its own an hour after the last.
pub const CONFIRMED: i32 = 3;

type SubnetRow = (IpAddr, IpAddr, IpAddr, i32, Vec<IpAddr>);

/// Stores the round trips of a package of `agent`. Only addresses in the subnets of its hosts
/// count: a name may resolve to an address elsewhere, and an agent reports on its own subnets only.
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
        .bind(found.iter().map(|(_, (_, us))| int(*us)).collect::<Vec<_>>())
        .bind(agent.get())
        .bind(Moment(now))
        .bind(CONFIRMED)
        .fetch_all(db)
        .await
        .map_err(StoreError::doing("store the round trips of fetches"))?;
    let read = |(first, last, address, rtt_us, confirmed): SubnetRow| {
        let shortest = RoundTrip { address, agent, rtt_us: rtt_us.unsigned_abs() };
        Ok(SubnetRoundTrip { subnet: range(first, last)?, shortest, confirmed })
    };
    rows.into_iter().map(read).collect()
}

/// Times older than 90 days are replaced, since paths change.
const RECORD: &str = include_str!("round_trips/record.sql");

type Row = (IpAddr, i64, i32);

fn round_trip((address, agent, rtt_us): Row) -> RoundTrip {
    RoundTrip { address, agent: AgentId::new(agent), rtt_us: rtt_us.unsigned_abs() }
}

/// Most round trips that are read on each side of an address.
const LOOKED_AT: u32 = 500;

/// Confirmed round trips around an address of a subnet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Neighbours {
    /// In order of addresses, that of the address itself among them.
    pub round_trips: Vec<RoundTrip>,
    /// Whether these are all of the subnet.
    pub is_all: bool,
}

/// The confirmed round trips of a subnet next to one of its addresses, at most 500 up to it and 500
/// beyond. Only neighbours show where a subnet is to be split, and a large one has more addresses
/// than can be read with each package.
pub async fn confirmed_around(
    store: &Store,
    subnet: &Range,
    address: IpAddr,
    now: UnixMillis,
) -> Result<Neighbours, StoreError> {
    let rows: Vec<Row> = sqlx::query_as(include_str!("round_trips/confirmed_around.sql"))
        .bind(subnet.first())
        .bind(subnet.last())
        .bind(address)
        .bind(CONFIRMED)
        .bind(i64::from(LOOKED_AT))
        .bind(Moment(now))
        .fetch_all(&store.pool())
        .await
        .map_err(StoreError::doing("read the round trips of a subnet"))?;
    let below = rows.iter().filter(|row| row.0 <= address).count();
    let is_all = below.max(rows.len() - below) < LOOKED_AT as usize;
    Ok(Neighbours { round_trips: rows.into_iter().map(round_trip).collect(), is_all })
}
