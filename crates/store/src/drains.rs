//! Drains: agents that get no subnets and give away those they have.

use model::{AgentId, AgentState, DrainState, UnixMillis};
use serde_json::json;
use sqlx::postgres::PgRow;
use sqlx::{FromRow, PgConnection, Row as _};

use crate::audit::{self, Entry};
use crate::columns::{ReadColumn as _, read_word};
use crate::moment::Moment;
use crate::{Store, StoreError};

/// A drain of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drain {
    /// The agent that is drained.
    pub agent: AgentId,
    /// Admin who requested it.
    pub requested_by: String,
    /// When it was requested.
    pub requested_at: UnixMillis,
    /// From then on what the agent still has is taken from it; none: it keeps it until another
    /// agent is found.
    pub deadline_at: Option<UnixMillis>,
    /// Subnets that it held when the drain was requested.
    pub subnets: u64,
    /// Hosts that it had when the drain was requested.
    pub hosts: u64,
    /// When it had neither any more.
    pub drained_at: Option<UnixMillis>,
}

impl Drain {
    /// Whether what the agent still has, or gets late, is taken from it.
    pub fn is_past_deadline(&self, now: UnixMillis) -> bool {
        self.deadline_at.is_some_and(|deadline| deadline <= now)
    }

    /// How far it is.
    pub fn state(&self, now: UnixMillis) -> DrainState {
        if self.drained_at.is_some() {
            DrainState::Drained
        } else if self.is_past_deadline(now) {
            DrainState::Overdue
        } else {
            DrainState::Draining
        }
    }
}

impl FromRow<'_, PgRow> for Drain {
    fn from_row(row: &PgRow) -> sqlx::Result<Self> {
        Ok(Self {
            agent: row.read("agent")?,
            requested_by: row.try_get("requested_by")?,
            requested_at: row.read("requested_at")?,
            deadline_at: row.read("deadline_at")?,
            subnets: row.read("subnets")?,
            hosts: row.read("hosts")?,
            drained_at: row.read("drained_at")?,
        })
    }
}

/// All drains, in the order of their agents.
pub async fn list(store: &Store) -> Result<Vec<Drain>, StoreError> {
    sqlx::query_as(
        "SELECT agent, requested_by, requested_at, deadline_at, subnets, hosts, drained_at
         FROM drains ORDER BY agent",
    )
    .fetch_all(&store.pool())
    .await
    .map_err(StoreError::doing("list the drains"))
}

/// Outcome of a request to drain an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartOutcome {
    /// The drain has begun, or has another deadline now.
    Started,
    /// Only an approved or paused agent can be drained.
    NotFrom(AgentState),
}

/// Begins the drain of an agent, or changes the deadline of one that runs, with an entry in the
/// audit log. `None` when there is no such agent.
pub async fn start(
    store: &Store,
    agent: AgentId,
    deadline_at: Option<UnixMillis>,
    by: &str,
    now: UnixMillis,
) -> Result<Option<StartOutcome>, StoreError> {
    let doing = StoreError::doing("drain an agent");
    let mut tx = store.begin().await.map_err(doing)?;
    let state: Option<String> =
        sqlx::query_scalar("SELECT state FROM agents WHERE id = $1 FOR UPDATE")
            .bind(agent.get())
            .fetch_optional(&mut *tx)
            .await
            .map_err(doing)?;
    let Some(state) = state else { return Ok(None) };
    let state = read_word("agents", "state", agent, &state)?;
    if !matches!(state, AgentState::Approved | AgentState::Paused) {
        return Ok(Some(StartOutcome::NotFrom(state)));
    }
    sqlx::query(include_str!("drains/start.sql"))
        .bind(agent.get())
        .bind(by)
        .bind(Moment(now))
        .bind(deadline_at.map(Moment))
        .execute(&mut *tx)
        .await
        .map_err(doing)?;
    let detail = json!({ "deadline_ms": deadline_at });
    audit::write_in(&mut tx, &Entry::new(by, "agent.drain", agent, detail), now).await?;
    tx.commit().await.map_err(doing)?;
    Ok(Some(StartOutcome::Started))
}

/// Ends a drain: the agent may get subnets again. Returns whether there was one.
pub async fn cancel(
    store: &Store,
    agent: AgentId,
    by: &str,
    now: UnixMillis,
) -> Result<bool, StoreError> {
    let doing = StoreError::doing("end the drain of an agent");
    let mut tx = store.begin().await.map_err(doing)?;
    let was_drained = forget(&mut tx, agent).await?;
    if was_drained {
        let entry = Entry::new(by, "agent.end_drain", agent, json!({}));
        audit::write_in(&mut tx, &entry, now).await?;
    }
    tx.commit().await.map_err(doing)?;
    Ok(was_drained)
}

/// Deletes the drain of an agent, if there is one.
pub(crate) async fn forget(db: &mut PgConnection, agent: AgentId) -> Result<bool, StoreError> {
    let deleted = sqlx::query("DELETE FROM drains WHERE agent = $1")
        .bind(agent.get())
        .execute(db)
        .await
        .map_err(StoreError::doing("end the drain of an agent"))?;
    Ok(deleted.rows_affected() == 1)
}

/// Marks an agent as drained if it has neither subnets nor hosts. Returns whether that is news.
pub async fn finish(store: &Store, agent: AgentId, now: UnixMillis) -> Result<bool, StoreError> {
    let doing = StoreError::doing("finish the drain of an agent");
    let mut tx = store.begin().await.map_err(doing)?;
    let done = sqlx::query(include_str!("drains/finish.sql"))
        .bind(agent.get())
        .bind(Moment(now))
        .execute(&mut *tx)
        .await
        .map_err(doing)?;
    let is_done = done.rows_affected() == 1;
    if is_done {
        let entry = Entry::new("coordinator", "agent.drained", agent, json!({}));
        audit::write_in(&mut tx, &entry, now).await?;
    }
    tx.commit().await.map_err(doing)?;
    Ok(is_done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn late_subnets_of_a_drained_agent_are_past_the_deadline_too() {
        let before = UnixMillis(1);
        let deadline = UnixMillis(2);
        let mut drain = Drain {
            agent: AgentId::new(1),
            requested_by: "ada".to_owned(),
            requested_at: before,
            deadline_at: Some(deadline),
            subnets: 1,
            hosts: 1,
            drained_at: None,
        };
        assert_eq!(drain.state(before), DrainState::Draining);
        assert_eq!(drain.state(deadline), DrainState::Overdue);
        drain.drained_at = Some(before);
        assert_eq!(drain.state(deadline), DrainState::Drained);
        assert!(!drain.is_past_deadline(before) && drain.is_past_deadline(deadline));
    }
}
