//! Heartbeats of agents.

use std::net::IpAddr;

use model::{AgentId, AgentState, PlaceClaim, UnixMillis};

use crate::columns::{bigint, read_word};
use crate::moment::Moment;
use crate::{Store, StoreError};

/// The content of one heartbeat.
#[derive(Debug, Clone, Copy)]
pub struct Heartbeat<'a> {
    pub agent: AgentId,
    /// End of the sleep it announces; none when awake.
    pub asleep_until: Option<UnixMillis>,
    /// Whether it carries out probe orders now.
    pub takes_probes: bool,
    /// Whether its owner wants it to be in a region.
    pub wants_region: bool,
    /// Its own status report, as JSON.
    pub status: &'a serde_json::Value,
    /// Where its owner says it is.
    pub place: Option<&'a PlaceClaim>,
    /// Routes up to this number are stored by the agent and are forgotten here.
    pub routes_after: u64,
    /// The address that it comes from.
    pub source: IpAddr,
}

/// The state of an agent after its heartbeat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeartbeatOutcome {
    /// What the admins decided about it.
    pub state: AgentState,
    /// Number of the last route ever made for it; it cannot have confirmed a later one.
    pub last_route: u64,
    /// Whether it was unreachable before, its announced sleep changed, or it began or ceased to
    /// carry out probe orders.
    pub presence_changed: bool,
    /// Number of routes that this heartbeat confirmed.
    pub confirmed: u64,
}

/// Stores a heartbeat, unless it confirms routes that were never made. The agent was unreachable
/// before if its last heartbeat was before `heartbeat_cutoff`. `None` when there is no such agent.
pub async fn heartbeat(
    store: &Store,
    heartbeat: &Heartbeat<'_>,
    heartbeat_cutoff: UnixMillis,
    now: UnixMillis,
) -> Result<Option<HeartbeatOutcome>, StoreError> {
    let row: Option<(String, i64, bool, i64)> = sqlx::query_as(include_str!("heartbeat.sql"))
        .bind(heartbeat.agent.get())
        .bind(Moment(now))
        .bind(heartbeat.asleep_until.map(Moment))
        .bind(heartbeat.status)
        .bind(bigint(heartbeat.routes_after))
        .bind(Moment(heartbeat_cutoff))
        .bind(heartbeat.place.map(sqlx::types::Json))
        .bind(heartbeat.takes_probes)
        .bind(heartbeat.wants_region)
        .bind(heartbeat.source)
        .fetch_optional(&store.pool())
        .await
        .map_err(StoreError::doing("take a heartbeat down"))?;
    row.map(|(state, last, presence_changed, confirmed)| {
        Ok(HeartbeatOutcome {
            state: read_word("agents", "state", heartbeat.agent, &state)?,
            last_route: last.unsigned_abs(),
            presence_changed,
            confirmed: confirmed.unsigned_abs(),
        })
    })
    .transpose()
}
