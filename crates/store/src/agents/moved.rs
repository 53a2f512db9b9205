//! Agents whose machine moved to another network.

use std::net::IpAddr;
use std::time::Duration;

use hierarchy::Range;
use model::{AgentId, UnixMillis};
use serde_json::json;
use sqlx::PgConnection;

use crate::audit::{self, Entry};
use crate::columns::range;
use crate::{Store, StoreError, delegations};

/// An agent whose heartbeats come from another address than its home.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MovedAgent {
    pub agent: AgentId,
    /// Its home address.
    pub home: IpAddr,
    /// Where its heartbeats come from.
    pub source: IpAddr,
    /// Whether other agents have the same home. Then it is the address of a proxy, and says nothing
    /// of where these agents were.
    pub is_shared: bool,
}

/// The agents all of whose heartbeats came from one other address for this time at least. Without
/// those that share it: what several agents have is rather a proxy that is not declared as one.
pub async fn moved(store: &Store, at_least: Duration) -> Result<Vec<MovedAgent>, StoreError> {
    let rows: Vec<(i64, IpAddr, IpAddr, bool)> = sqlx::query_as(include_str!("moved.sql"))
        .bind(at_least.as_secs_f64())
        .fetch_all(&store.pool())
        .await
        .map_err(StoreError::doing("look which agents moved"))?;
    let moved = |(id, home, source, is_shared)| {
        let agent = AgentId::new(id);
        MovedAgent { agent, home, source, is_shared }
    };
    Ok(rows.into_iter().map(moved).collect())
}

/// Makes the address from which its heartbeats come the home of an agent, with an entry in the
/// audit log. Where it `is_elsewhere` now, what it measured before is forgotten. Returns the
/// subnets in which it was at home, which it holds like others from now on; none if the agent is
/// not as it was found.
pub async fn move_home(
    store: &Store,
    moved: &MovedAgent,
    is_elsewhere: bool,
    now: UnixMillis,
) -> Result<Option<Vec<Range>>, StoreError> {
    let doing = StoreError::doing("change the home of an agent");
    let mut tx = store.begin().await.map_err(doing)?;
    let changed = sqlx::query(
        "UPDATE agents
         SET home = source, home_since = CASE WHEN $4 THEN source_since ELSE home_since END,
             source = NULL, source_since = NULL, source_until = NULL
         WHERE id = $1 AND home = $2 AND source = $3",
    )
    .bind(moved.agent.get())
    .bind(moved.home)
    .bind(moved.source)
    .bind(is_elsewhere)
    .execute(&mut *tx)
    .await
    .map_err(doing)?;
    if changed.rows_affected() == 0 {
        return Ok(None);
    }
    if is_elsewhere {
        forget_measurements(&mut tx, moved.agent).await?;
    }
    let former = leave_homes(&mut tx, moved).await?;
    let detail = json!({ "from": moved.home, "to": moved.source });
    let entry = Entry::new("coordinator", "agent.move", moved.agent, detail);
    audit::write_in(&mut tx, &entry, now).await?;
    tx.commit().await.map_err(doing)?;
    Ok(Some(former))
}

/// Forgets what an agent measured in another network: round trips to homes and of fetches, those of
/// its delegations, its answers in open searches, and how its reports were judged. Its answers in
/// other searches are left out by the time of the move.
async fn forget_measurements(db: &mut PgConnection, agent: AgentId) -> Result<(), StoreError> {
    for statement in [
        "DELETE FROM home_times WHERE witness = $1",
        "DELETE FROM round_trips WHERE agent = $1",
        "UPDATE delegations SET rtt_us = NULL WHERE agent = $1 AND ended_at IS NULL",
        "UPDATE probes p SET state = 'expired', rtt_us = NULL, method = NULL
         FROM searches s, agents a
         WHERE s.id = p.search AND s.state = 'open' AND p.agent = $1 AND p.state = 'measured'
           AND a.id = $1 AND p.answered_at < a.home_since",
        "UPDATE agent_trust SET tests = 'null', evidence = '[]'
         WHERE agent = $1 AND paused_at IS NULL",
    ] {
        sqlx::query(statement)
            .bind(agent.get())
            .execute(&mut *db)
            .await
            .map_err(StoreError::doing("forget what an agent measured"))?;
    }
    Ok(())
}

/// Its home subnets without the new home are not its home any more.
async fn leave_homes(db: &mut PgConnection, moved: &MovedAgent) -> Result<Vec<Range>, StoreError> {
    let left: Vec<(IpAddr, IpAddr)> = sqlx::query_as(
        "UPDATE delegations SET reason = 'company'
         WHERE agent = $1 AND ended_at IS NULL AND reason = 'home'
           AND NOT $2::inet BETWEEN first AND last
         RETURNING first, last",
    )
    .bind(moved.agent.get())
    .bind(moved.source)
    .fetch_all(&mut *db)
    .await
    .map_err(StoreError::doing("leave a home subnet"))?;
    let left = left.into_iter().map(|(first, last)| range(first, last));
    let left: Vec<Range> = left.collect::<Result<_, _>>()?;
    for subnet in &left {
        delegations::notify(db, Some(subnet)).await?;
    }
    Ok(left)
}
