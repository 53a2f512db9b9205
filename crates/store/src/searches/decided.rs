//! Results of searches.

use std::collections::HashMap;
use std::net::IpAddr;

use hierarchy::Range;
use model::{AgentId, SearchId};

use super::OpenSearch;
use crate::columns::{bigint, range};
use crate::round_trips::RoundTrip;
use crate::{Store, StoreError};

/// Position in the order in which searches were decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct DecidedPosition {
    /// When the search was decided, in microseconds since 1970. Cut to milliseconds, a position
    /// would lie before its own search, which would be read again for ever.
    pub decided_us: i64,
    /// Orders searches that were decided in one moment.
    pub search: SearchId,
}

impl DecidedPosition {
    /// Before the first search.
    pub const START: Self = Self { decided_us: 0, search: SearchId::new(0) };
}

/// A search that is over, with what was measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecidedSearch {
    pub position: DecidedPosition,
    pub subnet: Range,
    /// Agents and their round trips in microseconds, in the order of asking; may be empty.
    pub times: Vec<(AgentId, u32)>,
}

type Row = (i64, i64, IpAddr, IpAddr, Vec<i64>, Vec<i32>);

/// Searches that are over, those after a position in the order of decisions, the oldest first.
/// Those whose targets answered nobody are left out here and below: they teach nothing.
pub async fn decided_after(
    store: &Store,
    after: DecidedPosition,
    limit: u32,
) -> Result<Vec<DecidedSearch>, StoreError> {
    let rows: Vec<Row> = sqlx::query_as(include_str!("decided.sql"))
        .bind(after.decided_us)
        .bind(after.search.get())
        .bind(i64::from(limit))
        .fetch_all(&store.pool())
        .await
        .map_err(StoreError::doing("read the searches that are over"))?;
    let read = |(id, decided_us, first, last, agents, times): Row| {
        let times =
            agents.into_iter().map(AgentId::new).zip(times.into_iter().map(i32::unsigned_abs));
        Ok(DecidedSearch {
            position: DecidedPosition { decided_us, search: SearchId::new(id) },
            subnet: range(first, last)?,
            times: times.collect(),
        })
    };
    rows.into_iter().map(read).collect()
}

/// How many searches are over, counted exactly, from an index alone.
pub async fn count_exactly(store: &Store) -> Result<u64, StoreError> {
    let count: i64 = sqlx::query_scalar("SELECT count(*) FROM searches WHERE state = 'decided'")
        .fetch_one(&store.pool())
        .await
        .map_err(StoreError::doing("count the decided searches"))?;
    Ok(count.unsigned_abs())
}

/// The position after the `skipped` oldest searches that are over.
pub async fn position_of_oldest(
    store: &Store,
    skipped: u64,
) -> Result<DecidedPosition, StoreError> {
    let Some(before) = skipped.checked_sub(1) else { return Ok(DecidedPosition::START) };
    let row: Option<(i64, i64)> = sqlx::query_as(
        "SELECT (extract(epoch FROM decided_at) * 1000000)::bigint, id
         FROM searches WHERE state = 'decided'
         ORDER BY decided_at, id OFFSET $1 LIMIT 1",
    )
    .bind(bigint(before))
    .fetch_optional(&store.pool())
    .await
    .map_err(StoreError::doing("find an old search that is over"))?;
    let position = |(decided_us, id)| DecidedPosition { decided_us, search: SearchId::new(id) };
    Ok(row.map_or(DecidedPosition::START, position))
}

/// Most measurements of a subnet that are read.
const MOST_TIMES: i64 = 1_000;

/// Measurements of earlier searches in the subnets of these searches, at other addresses than their
/// targets: the newest of each agent and address. Searches without any are left out.
pub async fn times_at_other_addresses(
    store: &Store,
    searches: &[&OpenSearch],
) -> Result<HashMap<SearchId, Vec<RoundTrip>>, StoreError> {
    let rows: Vec<(i64, IpAddr, i64, i32)> =
        sqlx::query_as(include_str!("times_at_other_addresses.sql"))
            .bind(searches.iter().map(|search| search.id.get()).collect::<Vec<_>>())
            .bind(searches.iter().map(|search| search.subnet.first()).collect::<Vec<_>>())
            .bind(searches.iter().map(|search| search.subnet.last()).collect::<Vec<_>>())
            .bind(searches.iter().map(|search| search.target).collect::<Vec<_>>())
            .bind(MOST_TIMES)
            .fetch_all(&store.pool())
            .await
            .map_err(StoreError::doing("read what was measured in subnets"))?;
    let mut found: HashMap<SearchId, Vec<RoundTrip>> = HashMap::new();
    for (search, address, agent, rtt_us) in rows {
        let time = RoundTrip { address, agent: AgentId::new(agent), rtt_us: rtt_us.unsigned_abs() };
        found.entry(SearchId::new(search)).or_default().push(time);
    }
    Ok(found)
}

/// Stores what the probes of a search showed about its subnet: a word of `searches.finding` and a
/// sentence.
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
        .execute(&store.pool())
        .await
        .map_err(StoreError::doing("write down what a search found"))?;
    Ok(())
}
