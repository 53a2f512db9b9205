//! The end of an agent by its owner: it hands its hosts over, then it is deregistered.

use model::{AgentId, AgentState, UnixMillis};
use serde_json::json;
use sqlx::PgConnection;

use super::orders::lock;
use crate::audit::{Entry, write_in};
use crate::commit::commit;
use crate::delegations;
use crate::moment::Moment;
use crate::{Store, StoreError, drains};

/// Actor in the audit log of what an owner does to its own agent.
const OWNER: &str = "owner";

/// How far an agent has come in leaving.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Departure {
    /// Hosts that it has not handed over yet.
    pub hosts_left: u64,
    /// Whether this step changed its state.
    pub is_changed: bool,
}

/// Starts or continues the end of an agent. The first call frees its work, as a revocation does,
/// but the agent stays known as paused, so that it can hand its hosts over. With `done`, or if it
/// was never approved, it is deregistered: its key is worthless from then on. `None` when there is
/// no such agent.
pub async fn leave(
    store: &Store,
    agent: AgentId,
    done: bool,
    now: UnixMillis,
) -> Result<Option<Departure>, StoreError> {
    let doing = StoreError::doing("let an agent leave");
    let mut tx = store.begin().await.map_err(doing)?;
    let Some(state) = lock(&mut tx, agent).await? else { return Ok(None) };
    let is_new = start(&mut tx, agent, now).await?;
    let ends = (done || state == AgentState::Pending) && state != AgentState::Revoked;
    // Also at the end: a decision that was on its way may have given it work since the start.
    if is_new || ends {
        delegations::free(&mut tx, agent, now).await?;
        delegations::notify(&mut tx, None).await?;
    }
    if is_new {
        drains::forget(&mut tx, agent).await?;
        write_in(&mut tx, &Entry::new(OWNER, "agent.leave", agent, json!({})), now).await?;
    }
    if ends {
        // An admin may have asked for a drain since.
        drains::forget(&mut tx, agent).await?;
        end(&mut tx, agent, now).await?;
        write_in(&mut tx, &Entry::new(OWNER, "agent.left", agent, json!({})), now).await?;
    }
    let hosts_left = hosts_left(&mut tx, agent).await?;
    commit(tx).await.map_err(doing)?;
    Ok(Some(Departure { hosts_left, is_changed: is_new || ends }))
}

/// Marks the agent as leaving; false if it is already.
async fn start(db: &mut PgConnection, agent: AgentId, now: UnixMillis) -> Result<bool, StoreError> {
    let started = sqlx::query(
        "UPDATE agents
         SET leaving_at = $2, state = CASE state WHEN 'approved' THEN 'paused' ELSE state END
         WHERE id = $1 AND leaving_at IS NULL",
    )
    .bind(agent.get())
    .bind(Moment(now))
    .execute(db)
    .await
    .map_err(StoreError::doing("mark an agent as leaving"))?;
    Ok(started.rows_affected() == 1)
}

async fn end(db: &mut PgConnection, agent: AgentId, now: UnixMillis) -> Result<(), StoreError> {
    sqlx::query("UPDATE agents SET left_at = $2, state = 'revoked' WHERE id = $1")
        .bind(agent.get())
        .bind(Moment(now))
        .execute(db)
        .await
        .map_err(StoreError::doing("deregister an agent"))?;
    Ok(())
}

/// Hosts that the agent has still to be told of, and those whose release it has not confirmed.
async fn hosts_left(db: &mut PgConnection, agent: AgentId) -> Result<u64, StoreError> {
    let left: i64 = sqlx::query_scalar(
        "SELECT (SELECT count(*) FROM handovers WHERE agent = $1 AND confirmed_at IS NULL)
              + (SELECT count(*) FROM agents a JOIN hosts h ON h.agent = a.id
                 WHERE a.id = $1 AND h.id > a.freed_to)",
    )
    .bind(agent.get())
    .fetch_one(db)
    .await
    .map_err(StoreError::doing("count the hosts that an agent has not handed over"))?;
    Ok(left.unsigned_abs())
}
