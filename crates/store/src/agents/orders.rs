//! Orders of admins about agents.

use hierarchy::Range;
use model::{AgentId, AgentState, UnixMillis};
use serde_json::json;
use sqlx::PgConnection;

use crate::audit::{self, Entry};
use crate::columns::read_word;
use crate::commit::commit;
use crate::delegations;
use crate::drains;
use crate::gift::Gift;
use crate::moment::Moment;
use crate::{Store, StoreError};

/// What an admin may do to an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Lets a pending agent work, with its home subnet, if the hierarchy knows one.
    Approve {
        /// The smallest subnet around its home.
        home: Option<Range>,
    },
    /// Stops an approved agent; its delegations stay.
    Pause,
    /// Lets a paused agent work again.
    Resume,
    /// Ends an agent for good; its work goes to others.
    Revoke,
}

impl Order {
    /// What the audit calls it.
    fn action(self) -> &'static str {
        match self {
            Self::Approve { .. } => "agent.approve",
            Self::Pause => "agent.pause",
            Self::Resume => "agent.resume",
            Self::Revoke => "agent.revoke",
        }
    }

    /// The states from which it is allowed, and the state it leads to.
    fn step(self) -> (&'static [AgentState], AgentState) {
        match self {
            Self::Approve { .. } => (&[AgentState::Pending], AgentState::Approved),
            Self::Pause => (&[AgentState::Approved], AgentState::Paused),
            Self::Resume => (&[AgentState::Paused], AgentState::Approved),
            Self::Revoke => (
                &[AgentState::Pending, AgentState::Approved, AgentState::Paused],
                AgentState::Revoked,
            ),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OrderOutcome {
    /// The order was carried out.
    Done,
    /// The agent was in that state already.
    Already,
    /// Not possible from the state the agent is in.
    NotFrom(AgentState),
    /// Its owner is ending it: it must not get work again.
    Leaving,
}

/// Carries out an admin's order in one transaction: changes the state, delegates the home subnet on
/// approval, frees the agent's work on revocation, writes an entry by `actor` into the audit log,
/// and notifies all coordinators where delegations changed. `None` when there is no such agent.
pub async fn order(
    store: &Store,
    agent: AgentId,
    order: Order,
    actor: &str,
    now: UnixMillis,
) -> Result<Option<OrderOutcome>, StoreError> {
    let doing = StoreError::doing("change an agent's state");
    let mut tx = store.begin().await.map_err(doing)?;
    let Some(state) = lock(&mut tx, agent).await? else { return Ok(None) };
    let (from, to) = order.step();
    if state == to {
        return Ok(Some(OrderOutcome::Already));
    }
    if !from.contains(&state) {
        return Ok(Some(OrderOutcome::NotFrom(state)));
    }
    if matches!(order, Order::Resume) && is_leaving(&mut tx, agent).await? {
        return Ok(Some(OrderOutcome::Leaving));
    }
    set_state(&mut tx, agent, to, now).await?;
    audit::write_in(&mut tx, &Entry::new(actor, order.action(), agent, json!({})), now).await?;
    match order {
        Order::Approve { home: Some(home) } => {
            delegations::give_home(&mut tx, Gift::new(home, agent), now).await?;
        }
        Order::Revoke => {
            drains::forget(&mut tx, agent).await?;
            delegations::free(&mut tx, agent, now).await?;
            delegations::notify(&mut tx, None).await?;
        }
        // An admin who resumes an agent trusts it again, so findings about its reports are deleted.
        Order::Resume => reset_trust(&mut tx, agent).await?,
        Order::Approve { home: None } | Order::Pause => {}
    }
    commit(tx).await.map_err(doing)?;
    Ok(Some(OrderOutcome::Done))
}

/// The state of an agent, whose row is locked until the transaction ends.
pub(crate) async fn lock(
    db: &mut PgConnection,
    agent: AgentId,
) -> Result<Option<AgentState>, StoreError> {
    let state: Option<String> =
        sqlx::query_scalar("SELECT state FROM agents WHERE id = $1 FOR UPDATE")
            .bind(agent.get())
            .fetch_optional(db)
            .await
            .map_err(StoreError::doing("lock an agent"))?;
    state.map(|state| read_word("agents", "state", agent, &state)).transpose()
}

async fn is_leaving(db: &mut PgConnection, agent: AgentId) -> Result<bool, StoreError> {
    sqlx::query_scalar("SELECT leaving_at IS NOT NULL FROM agents WHERE id = $1")
        .bind(agent.get())
        .fetch_one(db)
        .await
        .map_err(StoreError::doing("look whether an agent leaves"))
}

/// Only reports that come from now on are judged.
async fn reset_trust(db: &mut PgConnection, agent: AgentId) -> Result<(), StoreError> {
    for statement in [
        "DELETE FROM home_times WHERE witness = $1",
        "UPDATE agent_trust SET tests = 'null', evidence = '[]', paused_at = NULL, finding = NULL
         WHERE agent = $1",
    ] {
        sqlx::query(statement)
            .bind(agent.get())
            .execute(&mut *db)
            .await
            .map_err(StoreError::doing("reset the trust in an agent"))?;
    }
    Ok(())
}

async fn set_state(
    db: &mut PgConnection,
    agent: AgentId,
    state: AgentState,
    now: UnixMillis,
) -> Result<(), StoreError> {
    sqlx::query(include_str!("set_state.sql"))
        .bind(agent.get())
        .bind(state.as_str())
        .bind(Moment(now))
        .execute(db)
        .await
        .map_err(StoreError::doing("change an agent's state"))?;
    Ok(())
}
