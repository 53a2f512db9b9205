//! Frees the work of an agent that is revoked or leaves.
//!
//! An agent may have some hundred thousand hosts, more than one transaction can take while the
//! agent or an admin waits for the answer. The hosts are taken in steps: the first with the
//! revocation, the others by a task. How far they have come is in the database, so that another
//! leader goes on there.

use model::{AgentId, UnixMillis};
use sqlx::PgConnection;

use crate::commit::commit;
use crate::moment::Moment;
use crate::{Store, StoreError};

/// Hosts that one step takes: a part of a second.
const STEP: i64 = 2_000;

/// Frees the work of an agent that is revoked: ends its delegations and its probe orders, queues
/// its routes again, and takes the first of its hosts; [`free_hosts`] takes the others. They stay
/// reserved until the agent's lease ends ([`crate::handovers::lapse`]); then they wait for another
/// agent, with their front pages queued.
pub(crate) async fn free(
    db: &mut PgConnection,
    agent: AgentId,
    now: UnixMillis,
) -> Result<(), StoreError> {
    for (doing, step) in FREE {
        sqlx::query(step)
            .bind(agent.get())
            .bind(Moment(now))
            .execute(&mut *db)
            .await
            .map_err(StoreError::doing(doing))?;
    }
    take_next(db, agent, now).await?;
    Ok(())
}

/// Takes the next hosts from an agent whose work is freed. Returns the agent and the number of
/// hosts; none when nothing is left to take.
pub async fn free_hosts(
    store: &Store,
    now: UnixMillis,
) -> Result<Option<(AgentId, u64)>, StoreError> {
    let doing = StoreError::doing("take the hosts of agents that are revoked or leave");
    let mut tx = store.begin().await.map_err(doing)?;
    let agent: Option<i64> = sqlx::query_scalar(
        "SELECT id FROM agents WHERE freed_to IS NOT NULL
         ORDER BY id LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED",
    )
    .fetch_optional(&mut *tx)
    .await
    .map_err(doing)?;
    let Some(agent) = agent.map(AgentId::new) else { return Ok(None) };
    let taken = take_next(&mut tx, agent, now).await?;
    commit(tx).await.map_err(doing)?;
    Ok(Some((agent, taken)))
}

/// Takes the next hosts from an agent whose row the caller has locked.
async fn take_next(
    db: &mut PgConnection,
    agent: AgentId,
    now: UnixMillis,
) -> Result<u64, StoreError> {
    let taken: i64 = sqlx::query_scalar(include_str!("free_hosts.sql"))
        .bind(agent.get())
        .bind(Moment(now))
        .bind(STEP)
        .fetch_one(db)
        .await
        .map_err(StoreError::doing("take hosts from an agent"))?;
    Ok(taken.unsigned_abs())
}

/// $1 is the agent, $2 is now; each statement names both.
const FREE: [(&str, &str); 6] = [
    (
        "end an agent's delegations",
        // Locked by rising number, as in all transactions.
        "UPDATE delegations SET ended_at = $2 WHERE id = ANY(ARRAY(
             SELECT id FROM delegations WHERE agent = $1 AND ended_at IS NULL
             ORDER BY id FOR UPDATE))",
    ),
    ("end an agent's probe orders", include_str!("expire_probes_of_agent.sql")),
    ("end an agent's handovers", include_str!("end_handovers_of_agent.sql")),
    (
        "queue an agent's routes again",
        "INSERT INTO pending_urls (host, url, redirects)
         SELECT h.id, r.url, r.redirects
         FROM routes r
         JOIN hosts h ON h.scheme = substring(r.url FROM '^(https?)://')
                     AND h.authority = substring(r.url FROM '^https?://([^/?#]*)')
         WHERE r.agent = $1 AND $2::timestamptz IS NOT NULL
         ORDER BY r.seq
         ON CONFLICT DO NOTHING",
    ),
    (
        "forget an agent's routes",
        "DELETE FROM routes WHERE agent = $1 AND $2::timestamptz IS NOT NULL",
    ),
    (
        "take an agent's hosts",
        "UPDATE agents SET freed_to = 0 WHERE id = $1 AND $2::timestamptz IS NOT NULL",
    ),
];
