//! Round trips to the home addresses of agents, measured by other agents.

use model::{AgentId, UnixMillis};

use crate::moment::Moment;
use crate::{Store, StoreError};

/// What a witness measured to the home address of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HomeTime {
    /// The agent whose home address it is.
    pub agent: AgentId,
    /// The agent that measured.
    pub witness: AgentId,
    /// Round trip in microseconds; none when the address did not answer.
    pub rtt_us: Option<u32>,
    /// When the report came.
    pub measured_at: UnixMillis,
}

/// All measurements of the present home addresses. Those of agents that left, or were revoked, may
/// be other people's by now.
pub async fn list(store: &Store) -> Result<Vec<HomeTime>, StoreError> {
    let rows: Vec<(i64, i64, Option<i32>, Moment)> = sqlx::query_as(
        "SELECT t.agent, t.witness, t.rtt_us, t.measured_at FROM home_times t
         JOIN agents a ON a.id = t.agent AND a.home = t.home AND a.state <> 'revoked'
         JOIN agents w ON w.id = t.witness AND w.state = 'approved'
         ORDER BY t.agent, t.witness",
    )
    .fetch_all(&store.pool())
    .await
    .map_err(StoreError::doing("read the times of home addresses"))?;
    let time = |(agent, witness, rtt_us, at): (i64, i64, Option<i32>, Moment)| HomeTime {
        agent: AgentId::new(agent),
        witness: AgentId::new(witness),
        rtt_us: rtt_us.map(i32::unsigned_abs),
        measured_at: at.0,
    };
    Ok(rows.into_iter().map(time).collect())
}

/// Orders measurements of home addresses, each by a witness (the second of a pair). One that is
/// ordered already is left as it is. Returns how many are new.
pub async fn order(
    store: &Store,
    due: &[(AgentId, AgentId)],
    now: UnixMillis,
) -> Result<Vec<AgentId>, StoreError> {
    let ordered: Vec<i64> = sqlx::query_scalar(include_str!("home_times/order.sql"))
        .bind(due.iter().map(|(agent, _)| agent.get()).collect::<Vec<_>>())
        .bind(due.iter().map(|(_, witness)| witness.get()).collect::<Vec<_>>())
        .bind(Moment(now))
        .fetch_all(&store.pool())
        .await
        .map_err(StoreError::doing("order measurements of home addresses"))?;
    Ok(ordered.into_iter().map(AgentId::new).collect())
}
