//! Agents with counts of their work, for lists and pages.

use std::collections::HashMap;
use std::net::IpAddr;

use model::{AgentId, AgentState, PlaceClaim, UnixMillis};
use protocol::key::PublicKey;
use sqlx::postgres::PgRow;
use sqlx::types::Json;
use sqlx::{FromRow, Row as _};

use crate::columns::{ReadColumn as _, read_word};
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

impl FromRow<'_, PgRow> for AgentSummary {
    fn from_row(row: &PgRow) -> sqlx::Result<Self> {
        let id: i64 = row.try_get("id")?;
        let key = PublicKey::from_bytes(row.try_get("public_key")?);
        Ok(Self {
            id: AgentId::new(id),
            state: read_word("agents", "state", id, row.try_get("state")?)?,
            name: row.try_get("name")?,
            contact: row.try_get("contact")?,
            version: row.try_get("version")?,
            capacity_pages_per_day: row.read("capacity_pages_per_day")?,
            zone: row.try_get("zone")?,
            spans: row.try_get::<Json<_>, _>("spans")?.0,
            home: row.try_get("home")?,
            source: row.try_get("source")?,
            source_since: row.read("source_since")?,
            place: row.try_get::<Option<Json<_>>, _>("place")?.map(|place| place.0),
            key: key.map_err(|_| StoreError::unreadable("agents.public_key"))?,
            join_token: row.try_get("join_token")?,
            leaving_at: row.read("leaving_at")?,
            left_at: row.read("left_at")?,
            pages_removed_at: row.read("pages_removed_at")?,
            enrolled_at: row.read("enrolled_at")?,
            approved_at: row.read("approved_at")?,
            last_heartbeat_at: row.read("last_heartbeat_at")?,
            asleep_until: row.read("asleep_until")?,
            idle_reason: row.try_get("idle_reason")?,
            clock_off_ms: row.try_get("clock_off_ms")?,
            delegations: row.read("delegations")?,
            hosts: row.read("hosts")?,
            pages: row.read("pages")?,
            wire_bytes: row.read("wire_bytes")?,
            shipped_bytes: row.read("shipped_bytes")?,
        })
    }
}

/// All agents, the newest first. They are some thousands at most, so that lists are filtered and
/// sorted in memory.
pub async fn list(store: &Store) -> Result<Vec<AgentSummary>, StoreError> {
    read(store, None).await
}

async fn read(store: &Store, agent: Option<AgentId>) -> Result<Vec<AgentSummary>, StoreError> {
    sqlx::query_as(include_str!("list.sql"))
        .bind(agent.map(AgentId::get))
        .fetch_all(&store.pool())
        .await
        .map_err(StoreError::doing("list the agents"))
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
