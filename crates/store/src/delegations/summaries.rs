//! Delegations with their agent, their search and counts, for lists and pages.

use std::collections::HashMap;
use std::net::IpAddr;

use hierarchy::Range;
use model::{AgentId, DelegationId, DelegationSort, Reason, SearchId, UnixMillis};
use sqlx::postgres::PgRow;
use sqlx::{FromRow, Row as _};

use crate::bounded_count::{BoundedCount, COUNT_MAX};
use crate::columns::{ReadColumn as _, escaped, range, read_word};
use crate::{Store, StoreError};

/// A delegation with its agent, its search and counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DelegationSummary {
    /// Primary key of the row.
    pub id: DelegationId,
    pub subnet: Range,
    /// Who crawls it.
    pub agent: AgentId,
    /// That agent's name.
    pub agent_name: String,
    /// That agent's home address.
    pub agent_home: IpAddr,
    /// Fencing number of the subnet, from 1.
    pub fencing_number: u64,
    /// Why the agent holds it.
    pub reason: Reason,
    /// Whether a better agent may still be found.
    pub provisional: bool,
    /// The agent's round trip, in microseconds.
    pub rtt_us: Option<u32>,
    /// When the decision was made.
    pub decided_at: UnixMillis,
    /// When another took its place.
    pub ended_at: Option<UnixMillis>,
    /// The search that led here; none for home.
    pub search: Option<SearchId>,
    /// Threshold of that search, in microseconds.
    pub threshold_us: Option<u32>,
    /// Probes of that search.
    pub probes: u64,
    /// Known hosts of the subnet.
    pub hosts: u64,
}

/// Selects delegations; an empty filter selects all.
#[derive(Debug, Clone, Default)]
pub struct DelegationFilter {
    /// Of this agent.
    pub agent: Option<AgentId>,
    /// For this reason.
    pub reason: Option<Reason>,
    /// Those whose subnet shares an address with this range.
    pub touching: Option<Range>,
    /// Those with this in their agent's name, with a host whose name begins so, or with one of
    /// [`DelegationFilter::subnets`]. Of hosts and of agents' subnets, 10,000 are looked through.
    pub text: Option<String>,
    /// Subnets that fit the text for a reason that Postgres does not know.
    pub subnets: Vec<Range>,
}

/// Place in a list after which a page begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DelegationCursor {
    /// Round trip in microseconds of the last delegation before the page; 0 in the order
    /// [`DelegationSort::Newest`].
    pub rtt_us: i64,
    /// The last delegation before the page.
    pub id: DelegationId,
}

impl DelegationSummary {
    /// Where the delegation stands in a list of this order.
    pub fn cursor(&self, sort: DelegationSort) -> DelegationCursor {
        let rtt_us = match sort {
            DelegationSort::Newest => None,
            DelegationSort::Slowest => self.rtt_us,
        };
        DelegationCursor { rtt_us: rtt_us.unwrap_or(0).into(), id: self.id }
    }
}

impl FromRow<'_, PgRow> for DelegationSummary {
    fn from_row(row: &PgRow) -> sqlx::Result<Self> {
        let id: i64 = row.try_get("id")?;
        Ok(Self {
            id: DelegationId::new(id),
            subnet: range(row.try_get("first")?, row.try_get("last")?)?,
            agent: row.read("agent")?,
            agent_name: row.try_get("agent_name")?,
            agent_home: row.try_get("agent_home")?,
            fencing_number: row.read("fencing_number")?,
            reason: read_word("delegations", "reason", id, row.try_get("reason")?)?,
            provisional: row.try_get("provisional")?,
            rtt_us: row.read("rtt_us")?,
            decided_at: row.read("decided_at")?,
            ended_at: row.read("ended_at")?,
            search: row.read("search")?,
            threshold_us: row.read("threshold_us")?,
            probes: row.read("probes")?,
            hosts: row.read("hosts")?,
        })
    }
}

const NEWEST: &str = concat!(
    include_str!("summary_columns.sql"),
    include_str!("list.sql"),
    include_str!("newest.sql")
);
const SLOWEST: &str = concat!(
    include_str!("summary_columns.sql"),
    include_str!("list.sql"),
    include_str!("slowest.sql")
);

const SLOWEST_OF_AGENT: &str = concat!(
    include_str!("summary_columns.sql"),
    include_str!("list.sql"),
    include_str!("slowest_of_agent.sql")
);

/// Delegations that hold and pass the filter, after `after`.
pub async fn list(
    store: &Store,
    filter: &DelegationFilter,
    sort: DelegationSort,
    after: Option<DelegationCursor>,
    limit: i64,
) -> Result<Vec<DelegationSummary>, StoreError> {
    if let Some(text) = &filter.text {
        return list_with_text(store, text, filter, sort, after, limit).await;
    }
    let touching = filter.touching.as_ref();
    let statement = match sort {
        DelegationSort::Newest => NEWEST,
        DelegationSort::Slowest if filter.agent.is_some() => SLOWEST_OF_AGENT,
        DelegationSort::Slowest => SLOWEST,
    };
    let after_rtt = after.filter(|_| sort == DelegationSort::Slowest).map(|after| after.rtt_us);
    sqlx::query_as(statement)
        .bind(after.map_or(i64::MAX, |after| after.id.get()))
        .bind(limit)
        .bind(filter.agent.map(AgentId::get))
        .bind(filter.reason.map(Reason::as_str))
        .bind(touching.map(Range::first))
        .bind(touching.map(Range::last))
        .bind(after_rtt)
        .fetch_all(&store.pool())
        .await
        .map_err(StoreError::doing("list the delegations"))
}

/// Delegations that have a text: first their numbers, then the delegations with these numbers.
async fn list_with_text(
    store: &Store,
    text: &str,
    filter: &DelegationFilter,
    sort: DelegationSort,
    after: Option<DelegationCursor>,
    limit: i64,
) -> Result<Vec<DelegationSummary>, StoreError> {
    let is_by_round_trip = sort == DelegationSort::Slowest;
    let ids: Vec<i64> = sqlx::query_scalar(include_str!("with_text.sql"))
        .bind(after.map_or(i64::MAX, |after| after.id.get()))
        .bind(limit)
        .bind(after.map(|after| after.rtt_us))
        .bind(filter.subnets.iter().map(Range::first).collect::<Vec<_>>())
        .bind(filter.subnets.iter().map(Range::last).collect::<Vec<_>>())
        // Names of hosts are stored in lower case.
        .bind(format!("{}%", escaped(&text.to_lowercase())))
        .bind(format!("%{}%", escaped(text)))
        .bind(filter.agent.map(AgentId::get))
        .bind(filter.reason.map(Reason::as_str))
        .bind(is_by_round_trip)
        .bind(COUNT_MAX)
        .fetch_all(&store.pool())
        .await
        .map_err(StoreError::doing("find delegations by a text"))?;
    let mut found = by_number(store, &ids).await?;
    let places: HashMap<i64, usize> = ids.into_iter().zip(0..).collect();
    found.sort_by_key(|delegation| places.get(&delegation.id.get()).copied());
    Ok(found)
}

/// How many subnets an agent holds, by reason.
pub async fn count_of_agent(
    store: &Store,
    agent: AgentId,
) -> Result<Vec<(Reason, BoundedCount)>, StoreError> {
    let rows: Vec<(String, i64)> = sqlx::query_as(include_str!("count_of_agent.sql"))
        .bind(agent.get())
        .bind(COUNT_MAX + 1)
        .fetch_all(&store.pool())
        .await
        .map_err(StoreError::doing("count the delegations of an agent"))?;
    // Where the bound was reached, each reason may have more than was seen of it.
    let more = rows.iter().map(|(_, count)| count).sum::<i64>() > COUNT_MAX;
    rows.into_iter()
        .map(|(reason, count)| {
            let reason = read_word("delegations", "reason", agent, &reason)?;
            Ok((reason, BoundedCount { count: count.unsigned_abs(), more }))
        })
        .collect()
}

/// One delegation, also one that ended.
pub async fn find(
    store: &Store,
    id: DelegationId,
) -> Result<Option<DelegationSummary>, StoreError> {
    Ok(by_number(store, &[id.get()]).await?.pop())
}

async fn by_number(store: &Store, ids: &[i64]) -> Result<Vec<DelegationSummary>, StoreError> {
    sqlx::query_as(concat!(include_str!("summary_columns.sql"), include_str!("find.sql")))
        .bind(ids)
        .fetch_all(&store.pool())
        .await
        .map_err(StoreError::doing("read delegations"))
}

/// The delegation of exactly this subnet that holds now.
pub async fn of_subnet(store: &Store, subnet: &Range) -> Result<Option<DelegationId>, StoreError> {
    let found: Option<i64> = sqlx::query_scalar(
        "SELECT id FROM delegations WHERE first = $1 AND last = $2 AND ended_at IS NULL",
    )
    .bind(subnet.first())
    .bind(subnet.last())
    .fetch_optional(&store.pool())
    .await
    .map_err(StoreError::doing("find the delegation of a subnet"))?;
    Ok(found.map(DelegationId::new))
}
