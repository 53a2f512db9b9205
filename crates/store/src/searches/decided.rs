//! What searches have shown.

use std::net::IpAddr;

use hierarchy::Range;
use protocol::{AgentId, SearchId};

use crate::delegations::range;
use crate::{Store, StoreError};

/// A search that is over, with what was measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decided {
    /// Its name.
    pub id: SearchId,
    /// Its subnet.
    pub subnet: Range,
    /// Who measured what, in microseconds, in the order of asking; may be empty.
    pub times: Vec<(AgentId, u32)>,
}

type Row = (i64, IpAddr, IpAddr, Vec<i64>, Vec<i32>);

/// Searches that are over with a number below `before`, the newest first.
pub async fn decided(store: &Store, before: SearchId, limit: u32) -> Result<Vec<Decided>, StoreError> {
    let rows: Vec<Row> = sqlx::query_as(
        "SELECT s.id, s.first, s.last,
                coalesce(array_agg(p.agent ORDER BY p.step) FILTER (WHERE p.id IS NOT NULL), '{}'),
                coalesce(array_agg(p.rtt_us ORDER BY p.step) FILTER (WHERE p.id IS NOT NULL), '{}')
         FROM (SELECT id, first, last FROM searches WHERE state = 'decided' AND id < $1
               ORDER BY id DESC LIMIT $2) AS s
         LEFT JOIN probes p ON p.search = s.id AND p.state = 'measured'
         GROUP BY s.id, s.first, s.last ORDER BY s.id DESC",
    )
    .bind(before.get())
    .bind(i64::from(limit))
    .fetch_all(store.pool())
    .await
    .map_err(StoreError::doing("read the searches that are over"))?;
    let read = |(id, first, last, agents, times): Row| {
        let times = agents.into_iter().map(AgentId::new).zip(times.into_iter().map(i32::unsigned_abs));
        Ok(Decided { id: SearchId::new(id), subnet: range(first, last)?, times: times.collect() })
    };
    rows.into_iter().map(read).collect()
}

/// What an agent measured at an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sighted {
    /// The address.
    pub address: IpAddr,
    /// Who measured.
    pub agent: AgentId,
    /// The round trip, in microseconds.
    pub rtt_us: u32,
}

/// Most measurements that are looked at.
const SIGHTINGS: i64 = 1_000;

/// What searches for `subnet` measured at other addresses than `except`, the newest of each agent and address.
pub async fn sightings(store: &Store, subnet: &Range, except: IpAddr) -> Result<Vec<Sighted>, StoreError> {
    let rows: Vec<(IpAddr, i64, i32)> = sqlx::query_as(
        "SELECT DISTINCT ON (s.target, p.agent) s.target, p.agent, p.rtt_us
         FROM searches s JOIN probes p ON p.search = s.id AND p.state = 'measured'
         WHERE s.first = $1 AND s.last = $2 AND s.target <> $3
         ORDER BY s.target, p.agent, p.id DESC LIMIT $4",
    )
    .bind(subnet.first())
    .bind(subnet.last())
    .bind(except)
    .bind(SIGHTINGS)
    .fetch_all(store.pool())
    .await
    .map_err(StoreError::doing("read what was measured in a subnet"))?;
    let sighted = |(address, agent, rtt_us): (IpAddr, i64, i32)| Sighted {
        address,
        agent: AgentId::new(agent),
        rtt_us: rtt_us.unsigned_abs(),
    };
    Ok(rows.into_iter().map(sighted).collect())
}

/// Writes down what the probes of a search showed of its subnet: a word of `searches.finding`, and a sentence.
pub async fn note_finding(
    store: &Store,
    search: SearchId,
    finding: &str,
    detail: &str,
) -> Result<(), StoreError> {
    sqlx::query("UPDATE searches SET finding = $2, finding_detail = $3 WHERE id = $1")
        .bind(search.get())
        .bind(finding)
        .bind(detail)
        .execute(store.pool())
        .await
        .map_err(StoreError::doing("write down what a search found"))?;
    Ok(())
}
