//! What searches have shown.

use std::collections::HashMap;
use std::net::IpAddr;

use hierarchy::Range;
use model::{AgentId, SearchId};

use super::OpenSearch;
use crate::columns::range;
use crate::{Store, StoreError};

/// A search that is over, with what was measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decided {
    /// Primary key of the row.
    pub id: SearchId,
    /// The subnet that it is about.
    pub subnet: Range,
    /// Who measured what, in microseconds, in the order of asking; may be empty.
    pub times: Vec<(AgentId, u32)>,
}

type Row = (i64, IpAddr, IpAddr, Vec<i64>, Vec<i32>);

/// Searches that are over with a number below `before`, the newest first.
pub async fn decided(
    store: &Store,
    before: SearchId,
    limit: u32,
) -> Result<Vec<Decided>, StoreError> {
    let rows: Vec<Row> = sqlx::query_as(include_str!("decided.sql"))
        .bind(before.get())
        .bind(i64::from(limit))
        .fetch_all(store.pool())
        .await
        .map_err(StoreError::doing("read the searches that are over"))?;
    let read = |(id, first, last, agents, times): Row| {
        let times =
            agents.into_iter().map(AgentId::new).zip(times.into_iter().map(i32::unsigned_abs));
        Ok(Decided { id: SearchId::new(id), subnet: range(first, last)?, times: times.collect() })
    };
    rows.into_iter().map(read).collect()
}

/// What an agent measured at an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sighted {
    /// The address that it is about.
    pub address: IpAddr,
    /// The agent that measured.
    pub agent: AgentId,
    /// The round trip, in microseconds.
    pub rtt_us: u32,
}

/// Most measurements of a subnet that are looked at.
const SIGHTINGS: i64 = 1_000;

/// What searches measured in the subnets of these at other addresses than theirs, the newest of
/// each agent and address. A search without any is left out.
pub async fn sightings(
    store: &Store,
    searches: &[&OpenSearch],
) -> Result<HashMap<SearchId, Vec<Sighted>>, StoreError> {
    let rows: Vec<(i64, IpAddr, i64, i32)> = sqlx::query_as(include_str!("sightings.sql"))
        .bind(searches.iter().map(|search| search.id.get()).collect::<Vec<_>>())
        .bind(searches.iter().map(|search| search.subnet.first()).collect::<Vec<_>>())
        .bind(searches.iter().map(|search| search.subnet.last()).collect::<Vec<_>>())
        .bind(searches.iter().map(|search| search.target).collect::<Vec<_>>())
        .bind(SIGHTINGS)
        .fetch_all(store.pool())
        .await
        .map_err(StoreError::doing("read what was measured in subnets"))?;
    let mut found: HashMap<SearchId, Vec<Sighted>> = HashMap::new();
    for (search, address, agent, rtt_us) in rows {
        let sighted =
            Sighted { address, agent: AgentId::new(agent), rtt_us: rtt_us.unsigned_abs() };
        found.entry(SearchId::new(search)).or_default().push(sighted);
    }
    Ok(found)
}

/// Writes down what the probes of a search showed of its subnet: a word of `searches.finding`, and
/// a sentence.
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
