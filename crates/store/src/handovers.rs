//! Hosts leave one agent for another, and never have two.
//!
//! [`crate::delegations`] opens a hand-over when a subnet moves. The agent that has the host is
//! told with its next heartbeat ([`open`]), lets go and confirms ([`confirm`]); then the host waits
//! for an agent like a new one, and whoever has its subnet by then gets it. An agent that is not
//! heard of loses its lease first ([`lapse`]).

use model::{AgentId, HostTask, UnixMillis};
use protocol::heartbeat::HostOrder;
use sqlx::PgConnection;

use crate::columns::read_word;
use crate::moment::Moment;
use crate::{Store, StoreError};

/// What an agent shall do with hosts it has, oldest first; also after its lease ended and others
/// have them.
pub async fn open(
    store: &Store,
    agent: AgentId,
    limit: usize,
) -> Result<Vec<HostOrder>, StoreError> {
    let rows: Vec<(i64, String, String, String)> =
        sqlx::query_as(include_str!("handovers/open.sql"))
            .bind(agent.get())
            .bind(i64::try_from(limit).unwrap_or(i64::MAX))
            .fetch_all(store.pool())
            .await
            .map_err(StoreError::doing("read what an agent shall do with its hosts"))?;
    let order = |(id, scheme, authority, task): (i64, String, String, String)| {
        let task = read_word("handovers", "task", id, &task)?;
        Ok(HostOrder { number: id.unsigned_abs(), host: format!("{scheme}://{authority}"), task })
    };
    rows.into_iter().map(order).collect()
}

/// The agent did what these orders say, and shipped what it had. Numbers of other agents' orders
/// and of those that it confirmed before are passed over, so that a heartbeat may be repeated. Says
/// how many hosts came free.
pub async fn confirm(
    store: &Store,
    agent: AgentId,
    done: &[u64],
    now: UnixMillis,
) -> Result<u64, StoreError> {
    let doing = StoreError::doing("end hand-overs");
    let done: Vec<i64> = done.iter().map(|id| i64::try_from(*id).unwrap_or(i64::MAX)).collect();
    let mut tx = store.pool().begin().await.map_err(doing)?;
    let ended: Vec<(i64, String)> = sqlx::query_as(
        "UPDATE handovers SET ended_at = $3, ending = 'confirmed', confirmed_at = $3
         WHERE agent = $1 AND id = ANY($2) AND ended_at IS NULL RETURNING host, task",
    )
    .bind(agent.get())
    .bind(&done)
    .bind(Moment(now))
    .fetch_all(&mut *tx)
    .await
    .map_err(doing)?;
    // Somebody else has these hosts already.
    sqlx::query(include_str!("handovers/confirm.sql"))
        .bind(agent.get())
        .bind(&done)
        .bind(Moment(now))
        .execute(&mut *tx)
        .await
        .map_err(doing)?;
    let release =
        ended.iter().filter(|(_, task)| task == HostTask::Release.as_str()).map(|(host, _)| *host);
    let release: Vec<i64> = release.collect();
    set_free(&mut tx, &release).await?;
    tx.commit().await.map_err(doing)?;
    Ok(release.len() as u64)
}

/// Ends the hand-overs of agents not heard of since `heartbeat_cutoff`: their leases are over, so
/// that they fetch nothing until they have beaten again, and then they are told. Says how many
/// hosts came free.
pub async fn lapse(
    store: &Store,
    heartbeat_cutoff: UnixMillis,
    now: UnixMillis,
) -> Result<u64, StoreError> {
    let doing = StoreError::doing("end the hand-overs of agents that are not heard of");
    let mut tx = store.pool().begin().await.map_err(doing)?;
    let lapsed: Vec<i64> = sqlx::query_scalar(
        "UPDATE handovers o SET ended_at = $2, ending = 'lapsed' FROM agents a
         WHERE a.id = o.agent AND o.ended_at IS NULL AND o.task = 'release'
           AND coalesce(a.last_heartbeat_at, o.asked_at) < $1
         RETURNING o.host",
    )
    .bind(Moment(heartbeat_cutoff))
    .bind(Moment(now))
    .fetch_all(&mut *tx)
    .await
    .map_err(doing)?;
    set_free(&mut tx, &lapsed).await?;
    tx.commit().await.map_err(doing)?;
    Ok(lapsed.len() as u64)
}

/// The hosts wait for an agent, with their front pages in case the agent could hand nothing back.
async fn set_free(db: &mut PgConnection, hosts: &[i64]) -> Result<(), StoreError> {
    if hosts.is_empty() {
        return Ok(());
    }
    let steps =
        [include_str!("handovers/free_released_hosts.sql"), include_str!("handovers/set_free.sql")];
    for step in steps {
        sqlx::query(step)
            .bind(hosts)
            .execute(&mut *db)
            .await
            .map_err(StoreError::doing("set hosts free"))?;
    }
    Ok(())
}
