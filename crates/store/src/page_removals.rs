//! Removals of all pages of a revoked agent from the search index.
//!
//! A removal has a number, as packages have positions: every coordinator carries the removals out
//! in their order and keeps the number of the last one with its index.

use model::{AgentId, AgentState, UnixMillis};
use serde_json::json;
use sqlx::PgConnection;

use crate::agents::lock;
use crate::audit::{self, Entry};
use crate::columns::bigint;
use crate::commit::commit;
use crate::moment::Moment;
use crate::{Store, StoreError};

/// Outcome of an order to remove pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RemovalOutcome {
    /// The coordinators remove them now.
    Ordered,
    /// They were removed before.
    Already,
    /// The agent is not revoked, so new pages of it could follow.
    NotRevoked(AgentState),
}

/// Orders to remove all pages of an agent, with an entry by `actor` in the audit log. `None` when
/// there is no such agent.
pub async fn order(
    store: &Store,
    agent: AgentId,
    actor: &str,
    now: UnixMillis,
) -> Result<Option<RemovalOutcome>, StoreError> {
    let doing = StoreError::doing("order the removal of an agent's pages");
    let mut tx = store.begin().await.map_err(doing)?;
    let Some(state) = lock(&mut tx, agent).await? else { return Ok(None) };
    if state != AgentState::Revoked {
        return Ok(Some(RemovalOutcome::NotRevoked(state)));
    }
    if is_ordered(&mut tx, agent).await? {
        return Ok(Some(RemovalOutcome::Already));
    }
    sqlx::query(include_str!("page_removals/order.sql"))
        .bind(agent.get())
        .bind(Moment(now))
        .execute(&mut *tx)
        .await
        .map_err(doing)?;
    let entry = Entry::new(actor, "agent.remove_pages", agent, json!({}));
    audit::write_in(&mut tx, &entry, now).await?;
    commit(tx).await.map_err(doing)?;
    Ok(Some(RemovalOutcome::Ordered))
}

async fn is_ordered(db: &mut PgConnection, agent: AgentId) -> Result<bool, StoreError> {
    sqlx::query_scalar("SELECT EXISTS (SELECT FROM page_removals WHERE agent = $1)")
        .bind(agent.get())
        .fetch_one(db)
        .await
        .map_err(StoreError::doing("look up the removal of an agent's pages"))
}

/// The agents of the removals after this number, in their order.
pub async fn after(store: &Store, number: u64) -> Result<Vec<AgentId>, StoreError> {
    let agents: Vec<i64> =
        sqlx::query_scalar("SELECT agent FROM page_removals WHERE number > $1 ORDER BY number")
            .bind(bigint(number))
            .fetch_all(&store.pool())
            .await
            .map_err(StoreError::doing("list the removals of pages"))?;
    Ok(agents.into_iter().map(AgentId::new).collect())
}
