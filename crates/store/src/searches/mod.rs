//! Searches for the agents of subnets, with their trails.

mod again;
mod decided;
mod trail;
mod unanswered;

use std::collections::HashMap;
use std::net::IpAddr;

use hierarchy::Range;
use model::{AgentId, Phase, ProbeId, ProbeState, SearchId, Strategy, UnixMillis};
use sqlx::postgres::PgRow;
use sqlx::{FromRow, Row as _};

pub use decided::{
    DecidedPosition, DecidedSearch, count_exactly, decided_after, note_finding, position_of_oldest,
    times_at_other_addresses,
};
pub use trail::{SearchTrail, TrailProbe, trail};
pub use unanswered::{Retries, SubnetAddress, addresses_in_subnet, end_unanswered, retarget};

use crate::columns::{ReadColumn as _, int, range, read_word};
use crate::moment::Moment;
use crate::{Store, StoreError};

pub use again::{leave_pinned, left_provisional, skipped, targets};

/// A search to be opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSearch {
    /// The subnet that wants an agent.
    pub subnet: Range,
    /// Address that candidates probe.
    pub target: IpAddr,
    /// Authority of a web host at the target.
    pub host: String,
    /// Port of that host.
    pub port: u16,
}

/// Opens searches; a subnet with an open search keeps it. Returns how many are new.
pub async fn open(
    store: &Store,
    searches: &[NewSearch],
    strategy: Strategy,
    threshold_us: u32,
    now: UnixMillis,
) -> Result<u64, StoreError> {
    let column = |value: fn(&NewSearch) -> IpAddr| searches.iter().map(value).collect::<Vec<_>>();
    let opened = sqlx::query(include_str!("open.sql"))
        .bind(column(|s| s.subnet.first()))
        .bind(column(|s| s.subnet.last()))
        .bind(column(|s| s.target))
        .bind(searches.iter().map(|s| s.host.as_str()).collect::<Vec<_>>())
        .bind(searches.iter().map(|s| i32::from(s.port)).collect::<Vec<_>>())
        .bind(strategy.as_str())
        .bind(int(threshold_us))
        .bind(Moment(now))
        .execute(&store.pool())
        .await
        .map_err(StoreError::doing("open searches"))?;
    Ok(opened.rows_affected())
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenSearch {
    /// Primary key of the row.
    pub id: SearchId,
    /// The subnet that wants an agent.
    pub subnet: Range,
    /// Address that candidates probe.
    pub target: IpAddr,
    /// How it chooses the next agent to ask.
    pub strategy: Strategy,
    /// Threshold when it was opened, in microseconds.
    pub threshold_us: u32,
    /// When it was opened.
    pub opened_at: UnixMillis,
    /// Fencing number of the subnet; 0 when it never had one.
    pub fencing_number: i64,
    /// The agent that has the subnet provisionally.
    pub provisional: Option<AgentId>,
    /// The probes so far, in order.
    pub trail: Vec<TrailStep>,
}

/// One step of a trail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrailStep {
    /// The probe order.
    pub probe: ProbeId,
    /// Position in the search, from 1.
    pub step: u32,
    /// Who was asked.
    pub agent: AgentId,
    /// Why it was a candidate.
    pub phase: Phase,
    /// Inside of which subnet it was found.
    pub level: Range,
    /// Outcome of the probe.
    pub state: ProbeState,
    /// Round trip in microseconds; none unless the state is measured.
    pub rtt_us: Option<u32>,
    /// When it was asked.
    pub asked_at: UnixMillis,
}

/// The trail is read by a statement of its own.
impl FromRow<'_, PgRow> for OpenSearch {
    fn from_row(row: &PgRow) -> sqlx::Result<Self> {
        let id: i64 = row.try_get("id")?;
        Ok(Self {
            id: SearchId::new(id),
            subnet: range(row.try_get("first")?, row.try_get("last")?)?,
            target: row.try_get("target")?,
            strategy: read_word("searches", "strategy", id, row.try_get("strategy")?)?,
            threshold_us: row.read("threshold_us")?,
            opened_at: row.read("opened_at")?,
            fencing_number: row.try_get("fencing_number")?,
            provisional: row.read("provisional")?,
            trail: Vec::new(),
        })
    }
}

impl FromRow<'_, PgRow> for TrailStep {
    fn from_row(row: &PgRow) -> sqlx::Result<Self> {
        let id: i64 = row.try_get("id")?;
        Ok(Self {
            probe: ProbeId::new(id),
            step: row.read("step")?,
            agent: row.read("agent")?,
            phase: read_word("probes", "phase", id, row.try_get("phase")?)?,
            level: range(row.try_get("level_first")?, row.try_get("level_last")?)?,
            state: read_word("probes", "state", id, row.try_get("state")?)?,
            rtt_us: row.read("rtt_us")?,
            asked_at: row.read("asked_at")?,
        })
    }
}

/// The two kinds of open searches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchKind {
    /// The subnet has no agent yet.
    Undelegated,
    /// An agent has the subnet provisionally; a nearer agent may still be found.
    Provisional,
}

/// Selects the open searches that may have something to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenSearchFilter {
    /// Only searches of this kind.
    pub kind: SearchKind,
    /// Searches with at least this number of unanswered orders are left out. At least 1.
    pub pending: u32,
    /// Searches that were opened until then are included in any case, since they time out.
    pub opened_until: UnixMillis,
}

impl OpenSearchFilter {
    /// Every open search of a kind.
    pub const fn all(kind: SearchKind) -> Self {
        Self { kind, pending: u32::MAX, opened_until: UnixMillis(0) }
    }
}

/// Open searches after `after` that may have something to do, oldest first, with their trails.
pub async fn list_open(
    store: &Store,
    filter: OpenSearchFilter,
    after: SearchId,
    limit: u32,
) -> Result<Vec<OpenSearch>, StoreError> {
    // Few searches are open: `+ 0` in the statement keeps Postgres from scanning all of them in the
    // order of their ids.
    let mut searches: Vec<OpenSearch> = sqlx::query_as(include_str!("list_open.sql"))
        .bind(after.get())
        .bind(filter.kind == SearchKind::Provisional)
        .bind(i64::from(limit))
        .bind(i64::from(filter.pending.max(1)))
        .bind(Moment(filter.opened_until))
        .fetch_all(&store.pool())
        .await
        .map_err(StoreError::doing("read the open searches"))?;
    let ids: Vec<i64> = searches.iter().map(|search| search.id.get()).collect();
    let mut trails = trails(store, &ids).await?;
    for search in &mut searches {
        search.trail = trails.remove(&search.id.get()).unwrap_or_default();
    }
    Ok(searches)
}

async fn trails(
    store: &Store,
    searches: &[i64],
) -> Result<HashMap<i64, Vec<TrailStep>>, StoreError> {
    let steps: Vec<(i64, TrailStep)> = sqlx::query(include_str!("trails.sql"))
        .bind(searches)
        .try_map(|row: PgRow| Ok((row.try_get("search")?, TrailStep::from_row(&row)?)))
        .fetch_all(&store.pool())
        .await
        .map_err(StoreError::doing("read the trails of searches"))?;
    let mut trails: HashMap<i64, Vec<TrailStep>> = HashMap::new();
    for (search, step) in steps {
        trails.entry(search).or_default().push(step);
    }
    Ok(trails)
}

/// Ends a search whose subnet is not in the hierarchy any more. Its hosts get new subnets.
pub async fn abandon(store: &Store, search: SearchId, now: UnixMillis) -> Result<(), StoreError> {
    sqlx::query(include_str!("abandon.sql"))
        .bind(search.get())
        .bind(Moment(now))
        .execute(&store.pool())
        .await
        .map_err(StoreError::doing("end a search for a subnet that is gone"))?;
    Ok(())
}

/// Subnets without an agent whose open searches wait for an answer, or were opened after
/// `opened_after`. The others wait for agents that cannot be asked now.
pub async fn working(store: &Store, opened_after: UnixMillis) -> Result<Vec<Range>, StoreError> {
    let rows: Vec<(IpAddr, IpAddr)> = sqlx::query_as(include_str!("working.sql"))
        .bind(Moment(opened_after))
        .fetch_all(&store.pool())
        .await
        .map_err(StoreError::doing("list the searches that agents work for"))?;
    rows.into_iter().map(|(first, last)| range(first, last)).collect()
}

/// Subnets with an open search and without an agent.
pub async fn undelegated_subnets(store: &Store) -> Result<Vec<Range>, StoreError> {
    // The statement uses a subselect: Postgres would answer a join by reading every delegation.
    let rows: Vec<(IpAddr, IpAddr)> = sqlx::query_as(include_str!("undelegated_subnets.sql"))
        .fetch_all(&store.pool())
        .await
        .map_err(StoreError::doing("list the open searches"))?;
    rows.into_iter().map(|(first, last)| range(first, last)).collect()
}
