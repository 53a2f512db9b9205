//! Delegations with their agent, their search and counts, for lists and pages.

use std::net::IpAddr;

use hierarchy::Range;
use model::{AgentId, DelegationId, Reason, SearchId, UnixMillis};
use sqlx::FromRow;

use crate::columns::{range, read_word};
use crate::moment::Moment;
use crate::{Store, StoreError};

/// A delegation with its agent, its search and counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DelegationSummary {
    /// Primary key of the row.
    pub id: DelegationId,
    /// The subnet that it is about.
    pub subnet: Range,
    /// Who crawls it.
    pub agent: AgentId,
    /// That agent's name.
    pub agent_name: String,
    /// That agent's home address.
    pub agent_home: IpAddr,
    /// Fencing number of the subnet, from 1.
    pub generation: u64,
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
    /// Those with this in their agent's name or in one of their hosts' names, or with one of
    /// [`DelegationFilter::subnets`].
    pub text: Option<String>,
    /// Subnets that fit the text for a reason that Postgres does not know.
    pub subnets: Vec<Range>,
}

#[derive(FromRow)]
struct Row {
    id: i64,
    first: IpAddr,
    last: IpAddr,
    agent: i64,
    agent_name: String,
    agent_home: IpAddr,
    generation: i64,
    reason: String,
    provisional: bool,
    rtt_us: Option<i32>,
    decided_at: Moment,
    ended_at: Option<Moment>,
    search: Option<i64>,
    threshold_us: Option<i32>,
    probes: i64,
    hosts: i64,
}

/// Delegations that hold and pass the filter, with a number below `before`, the newest first.
pub async fn list(
    store: &Store,
    filter: &DelegationFilter,
    before: i64,
    limit: i64,
) -> Result<Vec<DelegationSummary>, StoreError> {
    let touching = filter.touching.as_ref();
    let rows: Vec<Row> =
        sqlx::query_as(concat!(include_str!("summary_columns.sql"), include_str!("list.sql")))
            .bind(before)
            .bind(limit)
            .bind(filter.agent.map(AgentId::get))
            .bind(filter.reason.map(Reason::as_str))
            .bind(touching.map(Range::first))
            .bind(touching.map(Range::last))
            .bind(filter.text.as_deref().map(containing))
            .bind(filter.subnets.iter().map(Range::first).collect::<Vec<_>>())
            .bind(filter.subnets.iter().map(Range::last).collect::<Vec<_>>())
            .fetch_all(store.pool())
            .await
            .map_err(StoreError::doing("list the delegations"))?;
    rows.into_iter().map(Row::read).collect()
}

/// One delegation, also one that ended.
pub async fn find(
    store: &Store,
    id: DelegationId,
) -> Result<Option<DelegationSummary>, StoreError> {
    let row: Option<Row> =
        sqlx::query_as(concat!(include_str!("summary_columns.sql"), include_str!("find.sql")))
            .bind(id.get())
            .fetch_optional(store.pool())
            .await
            .map_err(StoreError::doing("read a delegation"))?;
    row.map(Row::read).transpose()
}

/// The pattern for "has `text` somewhere in it".
fn containing(text: &str) -> String {
    let plain = text.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_");
    format!("%{plain}%")
}

impl Row {
    fn read(self) -> Result<DelegationSummary, StoreError> {
        Ok(DelegationSummary {
            id: DelegationId::new(self.id),
            subnet: range(self.first, self.last)?,
            agent: AgentId::new(self.agent),
            agent_name: self.agent_name,
            agent_home: self.agent_home,
            generation: self.generation.unsigned_abs(),
            reason: read_word("delegations", "reason", self.id, &self.reason)?,
            provisional: self.provisional,
            rtt_us: self.rtt_us.map(i32::unsigned_abs),
            decided_at: self.decided_at.0,
            ended_at: self.ended_at.map(|at| at.0),
            search: self.search.map(SearchId::new),
            threshold_us: self.threshold_us.map(i32::unsigned_abs),
            probes: self.probes.unsigned_abs(),
            hosts: self.hosts.unsigned_abs(),
        })
    }
}
