//! Handovers of hosts, so that a host never has two agents.
//!
//! [`crate::delegations`] opens a handover when a subnet moves. The agent that has the host gets
//! the order with its next heartbeat ([`open`]), releases the host and confirms ([`confirm`]). Then
//! the host waits like a new one and goes to the agent that has its subnet by then. If the agent
//! does not confirm, because it is unreachable, was revoked or does not obey, its lease ends first
//! ([`lapse`]).

use model::{AgentId, HostTask, UnixMillis};
use protocol::heartbeat::HostOrder;
use sqlx::PgConnection;

use crate::columns::{bigint, read_word};
use crate::delegations::{give_waiting, lock_delegations};
use crate::moment::Moment;
use crate::{Store, StoreError, lost_hosts};

/// Unconfirmed orders about the hosts of an agent, without those that it has accepted, oldest
/// first, also after its lease ended and other agents have the hosts.
pub async fn open(
    store: &Store,
    agent: AgentId,
    accepted: &[u64],
    limit: usize,
) -> Result<Vec<HostOrder>, StoreError> {
    let accepted: Vec<i64> = accepted.iter().map(|id| bigint(*id)).collect();
    let rows: Vec<(i64, String, String, String)> =
        sqlx::query_as(include_str!("handovers/open.sql"))
            .bind(agent.get())
            .bind(bigint(limit))
            .bind(accepted)
            .fetch_all(&store.pool())
            .await
            .map_err(StoreError::doing("read an agent's orders about hosts"))?;
    let order = |(id, scheme, authority, task): (i64, String, String, String)| {
        let task = read_word("handovers", "task", id, &task)?;
        let host = format!("{scheme}://{authority}");
        Ok(HostOrder { number: id.unsigned_abs(), host, task })
    };
    rows.into_iter().map(order).collect()
}

/// Marks orders as done. Unknown and confirmed ones are skipped, so that a heartbeat may be
/// repeated. Returns how many hosts became free.
pub async fn confirm(
    store: &Store,
    agent: AgentId,
    done: &[u64],
    now: UnixMillis,
) -> Result<u64, StoreError> {
    let doing = StoreError::doing("end handovers");
    let done: Vec<i64> = done.iter().map(|id| bigint(*id)).collect();
    let mut tx = store.begin().await.map_err(doing)?;
    let hosts: Vec<i64> = sqlx::query_scalar(
        "SELECT host FROM handovers WHERE agent = $1 AND id = ANY($2) AND ended_at IS NULL",
    )
    .bind(agent.get())
    .bind(&done)
    .fetch_all(&mut *tx)
    .await
    .map_err(doing)?;
    lock_delegations(&mut tx, &hosts).await?;
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
    // Orders that had lapsed before: their hosts have other agents by now, so only the confirmation
    // is noted.
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
    set_free(&mut tx, &release, now).await?;
    tx.commit().await.map_err(doing)?;
    Ok(release.len() as u64)
}

/// Hosts that [`lapse`] frees in one transaction.
pub const LAPSED_AT_ONCE: u32 = 2_000;

/// Ends release orders that their agents have not confirmed although their leases are over: leases
/// granted before `lease_cutoff` have ended. An agent that is not heard of fetches nothing until
/// its next heartbeat, which brings the orders. An agent that is heard of was told with its lease,
/// and what it reports about the host from now on does not count. Returns how many hosts became
/// free: at most [`LAPSED_AT_ONCE`], in which case there may be more.
pub async fn lapse(
    store: &Store,
    lease_cutoff: UnixMillis,
    now: UnixMillis,
) -> Result<u64, StoreError> {
    let doing = StoreError::doing("end handovers that are not confirmed");
    let mut tx = store.begin().await.map_err(doing)?;
    let due: Vec<(i64, i64)> = sqlx::query_as(include_str!("handovers/due.sql"))
        .bind(Moment(lease_cutoff))
        .bind(i64::from(LAPSED_AT_ONCE))
        .fetch_all(&mut *tx)
        .await
        .map_err(doing)?;
    let hosts: Vec<i64> = due.iter().map(|(_, host)| *host).collect();
    lock_delegations(&mut tx, &hosts).await?;
    let lapsed: Vec<i64> = sqlx::query_scalar(include_str!("handovers/lapse.sql"))
        .bind(due.iter().map(|(order, _)| *order).collect::<Vec<_>>())
        .bind(Moment(lease_cutoff))
        .bind(Moment(now))
        .fetch_all(&mut *tx)
        .await
        .map_err(doing)?;
    set_free(&mut tx, &lapsed, now).await?;
    tx.commit().await.map_err(doing)?;
    Ok(lapsed.len() as u64)
}

/// Notes that results about `hosts`, each as scheme and authority, do not count because the agent
/// may not have them any more. Called before the results are acknowledged: the agent confirms its
/// orders after that, so that it is known by then whether results were lost.
pub async fn note_lost_results(
    store: &Store,
    agent: AgentId,
    hosts: &[String],
) -> Result<(), StoreError> {
    if hosts.is_empty() {
        return Ok(());
    }
    sqlx::query(include_str!("handovers/note_lost_results.sql"))
        .bind(agent.get())
        .bind(hosts)
        .execute(&store.pool())
        .await
        .map_err(StoreError::doing("note which hosts lost results"))?;
    Ok(())
}

/// Frees hosts, with their front pages queued in case the former agent could not hand anything
/// back and their other pages noted to be queued ([`crate::lost_hosts`]), and gives them to the
/// agents that have their subnets by now.
async fn set_free(db: &mut PgConnection, hosts: &[i64], now: UnixMillis) -> Result<(), StoreError> {
    if hosts.is_empty() {
        return Ok(());
    }
    sqlx::query(include_str!("handovers/free_released_hosts.sql"))
        .bind(hosts)
        .bind(Moment(now))
        .execute(&mut *db)
        .await
        .map_err(StoreError::doing("set hosts free"))?;
    queue_front_pages(db, hosts).await?;
    lost_hosts::note(db, hosts, now).await?;
    give_waiting(db, hosts).await?;
    Ok(())
}

/// Queues the front pages of hosts whose next agent may know nothing of them.
pub(crate) async fn queue_front_pages(
    db: &mut PgConnection,
    hosts: &[i64],
) -> Result<(), StoreError> {
    sqlx::query(include_str!("handovers/queue_front_pages.sql"))
        .bind(hosts)
        .execute(db)
        .await
        .map_err(StoreError::doing("queue the front pages of hosts"))?;
    Ok(())
}
