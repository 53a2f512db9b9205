//! Agents that may hold subnets.

use model::{AgentId, AgentState};
use sqlx::PgConnection;

use crate::StoreError;
use crate::columns::read_word;

/// Locks the agent's row until the transaction ends; whether the agent is approved or paused, and
/// does not leave.
///
/// The lock is the weakest. A transaction that revokes an agent or lets it leave waits, because it
/// locks the row `FOR UPDATE`. Heartbeats do not wait, however many hosts the transaction moves.
pub(crate) async fn may_work(db: &mut PgConnection, agent: AgentId) -> Result<bool, StoreError> {
    let state: Option<String> = sqlx::query_scalar(
        "SELECT state FROM agents WHERE id = $1 AND leaving_at IS NULL FOR KEY SHARE",
    )
    .bind(agent.get())
    .fetch_optional(db)
    .await
    .map_err(StoreError::doing("lock an agent"))?;
    let Some(state) = state else { return Ok(false) };
    let state = read_word("agents", "state", agent, &state)?;
    Ok(matches!(state, AgentState::Approved | AgentState::Paused))
}
