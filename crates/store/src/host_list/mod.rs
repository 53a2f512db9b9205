//! Hosts for people: lists in several orders, one host, and what is known of each.

mod counts;

use std::net::IpAddr;

use hierarchy::Range;
use model::{AgentId, HostId, HostSort, HostState, UnixMillis};
use sqlx::postgres::PgRow;
use sqlx::types::Json;
use sqlx::{FromRow, Postgres, QueryBuilder, Row as _};

pub use counts::count_by_state;

use crate::bounded_count::COUNT_MAX;
use crate::columns::{ReadColumn as _, escaped, range, read_word};
use crate::host_tally::RecentFetch;
use crate::{Store, StoreError};

/// Column of `host_fetches` by which a list is sorted.
const fn column(sort: HostSort) -> Option<&'static str> {
    match sort {
        HostSort::Newest => None,
        HostSort::Errors => Some("f.errors"),
        HostSort::Slowest => Some("f.mean_ms"),
        HostSort::Bytes => Some("f.wire_bytes"),
        HostSort::Disallowed => Some("f.disallowed"),
    }
}

/// Which hosts to list; all by default.
#[derive(Debug, Clone, Default)]
pub struct HostFilter {
    /// Only hosts in this state.
    pub state: Option<HostState>,
    /// Only hosts of this agent. In the order [`HostSort::Slowest`], only those from which it was
    /// the last to fetch: the times of others are not its own.
    pub agent: Option<AgentId>,
    /// Only hosts of this subnet, not those of subnets within it.
    pub subnet: Option<Range>,
    /// Only hosts whose address lies in this range.
    pub addresses: Option<Range>,
    /// Only hosts whose name, or name and port, begins so. Of more than [`COUNT_MAX`] hosts these
    /// are the first by name, in any order of the list, so that a single letter takes no longer
    /// than a whole name.
    pub name: Option<String>,
    /// Only hosts that seeds named.
    pub is_seeded: bool,
}

impl HostFilter {
    /// Whether it names nothing but an agent, and perhaps a state.
    const fn is_of_agent(&self) -> bool {
        let names_more = self.is_selective() || self.is_seeded;
        self.agent.is_some() && !names_more
    }

    /// Whether it leaves few of all hosts that were fetched from.
    fn is_narrow(&self) -> bool {
        let is_rare = self.state.is_some_and(|state| state != HostState::Delegated);
        self.agent.is_some() || self.is_selective() || self.is_seeded || is_rare
    }

    const fn is_selective(&self) -> bool {
        self.subnet.is_some() || self.addresses.is_some() || self.name.is_some()
    }
}

/// Place in a list after which a page begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostCursor {
    /// Value by which the list is sorted; 0 in the order [`HostSort::Newest`].
    pub value: i64,
    /// The last host before the page.
    pub host: HostId,
}

/// A host with what became of its fetches.
#[derive(Debug, Clone, PartialEq)]
pub struct HostSummary {
    /// Identifier of the host.
    pub id: HostId,
    /// http or https.
    pub scheme: String,
    /// Name or address, with the port where it is not the default.
    pub authority: String,
    /// Where it stands on its way to an agent.
    pub state: HostState,
    /// Address by which its subnet is found.
    pub address: Option<IpAddr>,
    /// Subnet that its address lies in.
    pub subnet: Option<Range>,
    /// Its agent with its name.
    pub agent: Option<(AgentId, String)>,
    /// Why the last attempt to place it failed.
    pub reason: Option<String>,
    /// Failed attempts in a row.
    pub attempts: u32,
    /// Not tried again before.
    pub retry_at: UnixMillis,
    /// When it was first seen.
    pub found_at: UnixMillis,
    /// The agent that reported the first link to it; none for a seed.
    pub found_by: Option<AgentId>,
    /// Number of documents that were ingested.
    pub pages: u64,
    /// Fetches, whatever their outcome.
    pub fetches: u64,
    /// Bytes of bodies as fetched.
    pub wire_bytes: u64,
    /// What became of its fetches; none when there were none.
    pub fetched: Option<FetchSummary>,
}

/// What became of the fetches from a host.
#[derive(Debug, Clone, PartialEq)]
pub struct FetchSummary {
    /// Fetches that failed.
    pub errors: u64,
    /// URLs that robots rules forbid.
    pub disallowed: u64,
    /// Mean time of a fetch in milliseconds.
    pub mean_ms: u64,
    /// Its last fetches, the newest first.
    pub recent: Vec<RecentFetch>,
    /// Time of the last fetch with an answer; none before one is known.
    pub answered_at: Option<UnixMillis>,
    /// Time of the first fetch without an answer after that; none while the host answers.
    pub unanswered_since: Option<UnixMillis>,
    /// Whether searches leave its pages out, because it has not answered for long.
    pub is_silent: bool,
}

impl HostSummary {
    /// Where the host stands in a list of this order.
    pub fn cursor(&self, sort: HostSort) -> HostCursor {
        let fetched = self.fetched.as_ref();
        let value = match sort {
            HostSort::Newest => None,
            HostSort::Errors => fetched.map(|fetched| fetched.errors),
            HostSort::Slowest => fetched.map(|fetched| fetched.mean_ms),
            HostSort::Bytes => Some(self.wire_bytes),
            HostSort::Disallowed => fetched.map(|fetched| fetched.disallowed),
        };
        HostCursor { value: value.unwrap_or(0).try_into().unwrap_or(i64::MAX), host: self.id }
    }
}

/// Hosts after `after`, at most `limit`.
pub async fn list(
    store: &Store,
    filter: &HostFilter,
    sort: HostSort,
    after: Option<HostCursor>,
    limit: i64,
) -> Result<Vec<HostSummary>, StoreError> {
    let mut query = QueryBuilder::new(COLUMNS);
    match column(sort) {
        None => newest(&mut query, filter, after),
        Some(column) => sorted(&mut query, filter, column, after, limit),
    }
    query.push(" LIMIT ").push_bind(limit);
    read(query, store).await
}

const COLUMNS: &str = include_str!("columns.sql");
/// The agents of hosts and, where there were any, their fetches.
const JOINED: &str = " LEFT JOIN agents a ON a.id = h.agent
    LEFT JOIN host_fetches f ON f.host = h.id WHERE ";

fn newest(query: &mut QueryBuilder<Postgres>, filter: &HostFilter, after: Option<HostCursor>) {
    if filter.name.is_some() {
        few(query, "*", filter);
    } else {
        query.push("hosts h");
    }
    query.push(JOINED).push("true");
    if let Some(after) = after {
        query.push(" AND h.id < ").push_bind(after.host.get());
    }
    if filter.name.is_none() {
        narrow(query, filter);
    }
    query.push(" ORDER BY h.id DESC");
}

/// Columns of the hosts that a filter leaves, read before they are sorted. There may be millions,
/// so that a bounded part is read along the index of the filter.
fn few(query: &mut QueryBuilder<Postgres>, columns: &'static str, filter: &HostFilter) {
    query.push("(SELECT ").push(columns).push(" FROM hosts h WHERE true");
    narrow(query, filter);
    let index_order = if filter.name.is_some() {
        "h.authority USING ~<~"
    } else if filter.addresses.is_some() {
        "h.address"
    } else {
        // The indexes of agents, of subnets, of states and of seeds.
        "h.id DESC"
    };
    query.push(" ORDER BY ").push(index_order).push(" LIMIT ").push_bind(COUNT_MAX).push(") h");
}

/// Hosts sorted by what became of their fetches.
fn sorted(
    query: &mut QueryBuilder<Postgres>,
    filter: &HostFilter,
    column: &'static str,
    after: Option<HostCursor>,
    limit: i64,
) {
    let of_agent = filter.agent.filter(|_| filter.is_of_agent() && column == "f.mean_ms");
    if let Some(agent) = of_agent {
        // Along the index of this order. Without the offset, the planner reads all hosts of the
        // agent, because it takes the two agents for independent.
        query.push("host_fetches f CROSS JOIN LATERAL ");
        query.push("(SELECT * FROM hosts h WHERE h.id = f.host");
        narrow(query, filter);
        query.push(" OFFSET 0) h LEFT JOIN agents a ON a.id = h.agent WHERE f.agent = ");
        query.push_bind(agent.get()).push(" AND ");
        has_value(query, column, after);
    } else if filter.is_narrow() {
        first_of_few(query, filter, column, after, limit);
        query
            .push(" JOIN hosts h ON h.id = f.host LEFT JOIN agents a ON a.id = h.agent WHERE true");
    } else {
        query.push("hosts h LEFT JOIN agents a ON a.id = h.agent ");
        query.push("JOIN host_fetches f ON f.host = h.id WHERE ");
        has_value(query, column, after);
        narrow(query, filter);
    }
    query.push(" ORDER BY ").push(column).push(" DESC, f.host DESC");
}

/// The first rows of fetches of the few hosts that a filter leaves. On the index of the order they
/// may lie millions of rows apart, which the planner does not know. Of the few, the fetches alone
/// are read and sorted, and of hosts no more than the index of the filter: rows of hosts and of
/// their fetches are anywhere on the disk, and only those of one page are shown.
fn first_of_few(
    query: &mut QueryBuilder<Postgres>,
    filter: &HostFilter,
    column: &'static str,
    after: Option<HostCursor>,
    limit: i64,
) {
    query.push("(SELECT f.* FROM ");
    few(query, "h.id", filter);
    // One look-up for each of the few: without the offset, the planner reads every host with a
    // value, of which there may be hundreds of times more.
    query.push(" CROSS JOIN LATERAL ");
    query.push("(SELECT * FROM host_fetches f WHERE f.host = h.id OFFSET 0) f WHERE ");
    has_value(query, column, after);
    query.push(" ORDER BY ").push(column).push(" DESC, f.host DESC LIMIT ").push_bind(limit);
    query.push(") f");
}

/// Hosts with a value of the order, after a place in the list.
fn has_value(query: &mut QueryBuilder<Postgres>, column: &'static str, after: Option<HostCursor>) {
    // Two of the indexes have only hosts with a value.
    let least = if matches!(column, "f.errors" | "f.disallowed") { " > 0" } else { " >= 0" };
    query.push(column).push(least);
    if let Some(after) = after {
        query.push(" AND (").push(column).push(", f.host) < (").push_bind(after.value);
        query.push(", ").push_bind(after.host.get()).push(")");
    }
}

fn narrow(query: &mut QueryBuilder<Postgres>, filter: &HostFilter) {
    if let Some(state) = filter.state {
        query.push(" AND h.state = ").push_bind(state.as_str());
    }
    if let Some(agent) = filter.agent {
        query.push(" AND h.agent = ").push_bind(agent.get());
    }
    if filter.is_seeded {
        query.push(" AND h.found_by = 0");
    }
    if let Some(subnet) = filter.subnet {
        query.push(" AND h.first = ").push_bind(subnet.first());
        query.push(" AND h.last = ").push_bind(subnet.last());
    }
    if let Some(addresses) = filter.addresses {
        query.push(" AND h.address BETWEEN ").push_bind(addresses.first());
        query.push(" AND ").push_bind(addresses.last());
    }
    if let Some(name) = &filter.name {
        query.push(" AND h.authority LIKE ").push_bind(format!("{}%", escaped(name)));
    }
}

/// Reads one host as the list shows it.
pub async fn find(store: &Store, host: HostId) -> Result<Option<HostSummary>, StoreError> {
    let mut query = QueryBuilder::new(COLUMNS);
    query.push("hosts h").push(JOINED).push("h.id = ").push_bind(host.get());
    Ok(read(query, store).await?.pop())
}

/// The hosts of a name, with and without TLS.
pub async fn named(store: &Store, authority: &str) -> Result<Vec<HostSummary>, StoreError> {
    let mut query = QueryBuilder::new(COLUMNS);
    query.push("hosts h").push(JOINED).push("h.authority = ").push_bind(authority);
    query.push(" ORDER BY h.pages DESC, h.scheme DESC");
    read(query, store).await
}

async fn read(
    mut query: QueryBuilder<Postgres>,
    store: &Store,
) -> Result<Vec<HostSummary>, StoreError> {
    query.build_query_as().fetch_all(&store.pool()).await.map_err(StoreError::doing("list hosts"))
}

impl FromRow<'_, PgRow> for HostSummary {
    fn from_row(row: &PgRow) -> sqlx::Result<Self> {
        let id: i64 = row.try_get("id")?;
        let subnet = row.try_get::<Option<_>, _>("first")?.zip(row.try_get("last")?);
        let found_by: i64 = row.try_get("found_by")?;
        Ok(Self {
            id: HostId::new(id),
            scheme: row.try_get("scheme")?,
            authority: row.try_get("authority")?,
            state: read_word("hosts", "state", id, row.try_get("state")?)?,
            address: row.try_get("address")?,
            subnet: subnet.map(|(first, last)| range(first, last)).transpose()?,
            agent: row.read::<Option<_>>("agent")?.zip(row.try_get("agent_name")?),
            reason: row.try_get("reason")?,
            attempts: row.read::<u16>("attempts")?.into(),
            retry_at: row.read("retry_at")?,
            found_at: row.read("found_at")?,
            found_by: (found_by != 0).then(|| AgentId::new(found_by)),
            pages: row.read("pages")?,
            fetches: row.read("fetches")?,
            wire_bytes: row.read("wire_bytes")?,
            fetched: read_fetched(row)?,
        })
    }
}

fn read_fetched(row: &PgRow) -> sqlx::Result<Option<FetchSummary>> {
    let Some(Json(recent)) = row.try_get("recent")? else { return Ok(None) };
    Ok(Some(FetchSummary {
        errors: row.read("errors")?,
        disallowed: row.read("disallowed")?,
        mean_ms: row.read("mean_ms")?,
        recent,
        answered_at: row.read("answered_at")?,
        unanswered_since: row.read("unanswered_since")?,
        is_silent: row.try_get("is_silent")?,
    }))
}
