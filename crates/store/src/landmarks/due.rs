//! Landmarks that agents have to measure.

use std::net::IpAddr;

use model::{AgentId, LandmarkId, UnixMillis};

use crate::moment::Moment;
use crate::{Store, StoreError};

/// How many landmarks an agent may be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OrderAllowance {
    /// The agent that it is about.
    pub agent: AgentId,
    /// Number of further orders that it may have.
    pub orders: u32,
}

/// A landmark that an agent has not measured lately.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DueMeasurement {
    /// The agent that it is about.
    pub agent: AgentId,
    /// The landmark to be measured.
    pub landmark: LandmarkId,
    /// The address that it is about.
    pub address: IpAddr,
}

/// Landmarks that agents have not measured since `before` from their present home, as many as each
/// agent is allowed: unmeasured ones first, then the oldest. All agents begin with the same
/// landmarks, so that their times can soon be compared.
pub async fn due(
    store: &Store,
    rooms: &[OrderAllowance],
    before: UnixMillis,
) -> Result<Vec<DueMeasurement>, StoreError> {
    let rows: Vec<(i64, i64, IpAddr)> = sqlx::query_as(include_str!("due.sql"))
        .bind(rooms.iter().map(|room| room.agent.get()).collect::<Vec<_>>())
        .bind(rooms.iter().map(|room| i64::from(room.orders)).collect::<Vec<_>>())
        .bind(Moment(before))
        .fetch_all(store.pool())
        .await
        .map_err(StoreError::doing("see which landmarks are to be measured"))?;
    let due = |(agent, landmark, address)| DueMeasurement {
        agent: AgentId::new(agent),
        landmark: LandmarkId::new(landmark),
        address,
    };
    Ok(rows.into_iter().map(due).collect())
}

/// Orders these measurements, except those already ordered. Returns how many are new.
pub async fn order(
    store: &Store,
    due: &[DueMeasurement],
    now: UnixMillis,
) -> Result<u64, StoreError> {
    let ordered = sqlx::query(include_str!("order.sql"))
        .bind(due.iter().map(|due| due.landmark.get()).collect::<Vec<_>>())
        .bind(due.iter().map(|due| due.agent.get()).collect::<Vec<_>>())
        .bind(Moment(now))
        .execute(store.pool())
        .await
        .map_err(StoreError::doing("order measurements of landmarks"))?;
    Ok(ordered.rows_affected())
}
