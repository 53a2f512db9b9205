//! Agents with counts of their work, for lists and pages.

use std::collections::HashMap;
use std::net::IpAddr;

use model::{AgentId, AgentState, PlaceClaim, UnixMillis};
use protocol::key::PublicKey;
use sqlx::FromRow;
use sqlx::types::Json;

use crate::columns::read_word;
use crate::moment::Moment;
use crate::{Store, StoreError};

/// An agent with counts of its work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentSummary {
    /// Primary key of the row.
    pub id: AgentId,
    /// What the admins decided about it.
    pub state: AgentState,
    /// Name given by the owner.
    pub name: String,
    /// Where webmasters reach the owner.
    pub contact: String,
    /// Version of its program.
    pub version: String,
    /// Pages a day that the owner offers.
    pub capacity_pages_per_day: u32,
    /// IANA zone of the spans.
    pub zone: String,
    /// Spans as the owner wrote them.
    pub spans: Vec<String>,
    /// Its home address.
    pub home: IpAddr,
    /// Where its heartbeats come from, if that is not its home.
    pub source: Option<IpAddr>,
    /// When the first of them came from there.
    pub source_since: Option<UnixMillis>,
    /// Where its owner says it is.
    pub place: Option<PlaceClaim>,
    pub key: PublicKey,
    /// What the admin wrote for the join token that it enrolled with; none if that is not known.
    pub join_token: Option<String>,
    /// When its owner ended it.
    pub leaving_at: Option<UnixMillis>,
    /// When it was deregistered, because its owner ended it.
    pub left_at: Option<UnixMillis>,
    /// When an admin had all its pages removed from the search.
    pub pages_removed_at: Option<UnixMillis>,
    /// When it enrolled.
    pub enrolled_at: UnixMillis,
    /// When it was approved.
    pub approved_at: Option<UnixMillis>,
    pub last_heartbeat_at: Option<UnixMillis>,
    /// End of its announced sleep.
    pub asleep_until: Option<UnixMillis>,
    /// Why it does not crawl, as of the last heartbeat.
    pub idle_reason: Option<String>,
    /// How far its clock was ahead at the last heartbeat, or behind if negative, in milliseconds;
    /// none while it is right.
    pub clock_off_ms: Option<i64>,
    /// Subnets it holds.
    pub delegations: u64,
    /// Hosts it crawls.
    pub hosts: u64,
    /// Documents ingested from it.
    pub pages: u64,
    /// Bytes of bodies it fetched for its ingested packages.
    pub wire_bytes: u64,
    /// Bytes of its packages.
    pub shipped_bytes: u64,
}

#[derive(FromRow)]
struct Row {
    id: i64,
    state: String,
    name: String,
    contact: String,
    version: String,
    capacity_pages_per_day: i32,
    zone: String,
    spans: Json<Vec<String>>,
    home: IpAddr,
    source: Option<IpAddr>,
    source_since: Option<Moment>,
    place: Option<Json<PlaceClaim>>,
    public_key: Vec<u8>,
    join_token: Option<String>,
    leaving_at: Option<Moment>,
    left_at: Option<Moment>,
    pages_removed_at: Option<Moment>,
    enrolled_at: Moment,
    approved_at: Option<Moment>,
    last_heartbeat_at: Option<Moment>,
    asleep_until: Option<Moment>,
    idle_reason: Option<String>,
    clock_off_ms: Option<i64>,
    delegations: i64,
    hosts: i64,
    pages: i64,
    wire_bytes: i64,
    shipped_bytes: i64,
}

/// All agents, the newest first. They are some thousands at most, so that lists are filtered and
/// sorted in memory.
pub async fn list(store: &Store) -> Result<Vec<AgentSummary>, StoreError> {
    read(store, None).await
}

async fn read(store: &Store, agent: Option<AgentId>) -> Result<Vec<AgentSummary>, StoreError> {
    let rows: Vec<Row> = sqlx::query_as(include_str!("list.sql"))
        .bind(agent.map(AgentId::get))
        .fetch_all(&store.pool())
        .await
        .map_err(StoreError::doing("list the agents"))?;
    rows.into_iter().map(Row::read).collect()
}

/// Reads one agent as the list shows it.
pub async fn find(store: &Store, agent: AgentId) -> Result<Option<AgentSummary>, StoreError> {
    Ok(read(store, Some(agent)).await?.pop())
}

/// The names of agents.
pub async fn names(
    store: &Store,
    agents: &[AgentId],
) -> Result<HashMap<AgentId, String>, StoreError> {
    let rows: Vec<(i64, String)> = sqlx::query_as("SELECT id, name FROM agents WHERE id = ANY($1)")
        .bind(agents.iter().map(|agent| agent.get()).collect::<Vec<_>>())
        .fetch_all(&store.pool())
        .await
        .map_err(StoreError::doing("look up the names of agents"))?;
    Ok(rows.into_iter().map(|(id, name)| (AgentId::new(id), name)).collect())
}

/// The names and states of agents.
pub async fn names_and_states(
    store: &Store,
    agents: &[AgentId],
) -> Result<HashMap<AgentId, (String, AgentState)>, StoreError> {
    let rows: Vec<(i64, String, String)> =
        sqlx::query_as("SELECT id, name, state FROM agents WHERE id = ANY($1)")
            .bind(agents.iter().map(|agent| agent.get()).collect::<Vec<_>>())
            .fetch_all(&store.pool())
            .await
            .map_err(StoreError::doing("look up the names and states of agents"))?;
    rows.into_iter()
        .map(|(id, name, state)| {
            let state = read_word("agents", "state", id, &state)?;
            Ok((AgentId::new(id), (name, state)))
        })
        .collect()
}

impl Row {
    fn read(self) -> Result<AgentSummary, StoreError> {
        let key = PublicKey::from_bytes(&self.public_key);
        Ok(AgentSummary {
            key: key.map_err(|_| StoreError::unreadable("agents.public_key"))?,
            join_token: self.join_token,
            leaving_at: self.leaving_at.map(|at| at.0),
            left_at: self.left_at.map(|at| at.0),
            pages_removed_at: self.pages_removed_at.map(|at| at.0),
            id: AgentId::new(self.id),
            state: read_word("agents", "state", self.id, &self.state)?,
            name: self.name,
            contact: self.contact,
            version: self.version,
            capacity_pages_per_day: self.capacity_pages_per_day.unsigned_abs(),
            zone: self.zone,
            spans: self.spans.0,
            home: self.home,
            source: self.source,
            source_since: self.source_since.map(|at| at.0),
            place: self.place.map(|place| place.0),
            enrolled_at: self.enrolled_at.0,
            approved_at: self.approved_at.map(|at| at.0),
            last_heartbeat_at: self.last_heartbeat_at.map(|at| at.0),
            asleep_until: self.asleep_until.map(|at| at.0),
            idle_reason: self.idle_reason,
            clock_off_ms: self.clock_off_ms,
            delegations: self.delegations.unsigned_abs(),
            hosts: self.hosts.unsigned_abs(),
            pages: self.pages.unsigned_abs(),
            wire_bytes: self.wire_bytes.unsigned_abs(),
            shipped_bytes: self.shipped_bytes.unsigned_abs(),
        })
    }
}
