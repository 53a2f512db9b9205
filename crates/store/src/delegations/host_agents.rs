//! Gives hosts their agents: a host always belongs to the agent of its subnet.
//!
//! Two events lead here: a subnet is delegated ([`give_hosts`]), or a host is put into a subnet
//! that is delegated already, or freed there ([`give_waiting`]).

use hierarchy::Range;
use model::{AgentId, HostId, UnixMillis};
use sqlx::PgConnection;

use crate::commit::commit;
use crate::gift::Gift;
use crate::moment::Moment;
use crate::{Store, StoreError};

/// Gives the hosts of subnets to agents, as part of the transaction that delegates the subnets.
/// Hosts that waited are the agent's at once. Hosts that another agent has are its when that agent
/// has released them ([`crate::handovers`]): until then they are moving, nothing more is routed
/// to the other agent, and what was on its way there is queued again. Hosts that a region moves by
/// itself are the new agent's at once, too.
pub(crate) async fn give_hosts(
    db: &mut PgConnection,
    gifts: &[Gift],
    now: UnixMillis,
) -> Result<(), StoreError> {
    let first: Vec<_> = gifts.iter().map(|gift| gift.subnet.first()).collect();
    let last: Vec<_> = gifts.iter().map(|gift| gift.subnet.last()).collect();
    let agents: Vec<i64> = gifts.iter().map(|gift| gift.agent.get()).collect();
    // All at once, in the order in which all lock hosts.
    sqlx::query(include_str!("lock_given_hosts.sql"))
        .bind(&first)
        .bind(&last)
        .bind(&agents)
        .execute(&mut *db)
        .await
        .map_err(StoreError::doing("lock the hosts of subnets"))?;
    for gift in gifts {
        if let Some(from) = gift.moved_from {
            move_hosts(db, &gift.subnet, (from, gift.agent)).await?;
        }
    }
    sqlx::query(
        "UPDATE hosts h SET state = 'delegated', agent = g.agent, attempts = 0, silences = 0,
                          reason = NULL
         FROM unnest($1::inet[], $2::inet[], $3::bigint[]) AS g (first, last, agent)
         WHERE h.first = g.first AND h.last = g.last AND h.state = 'resolved'",
    )
    .bind(&first)
    .bind(&last)
    .bind(&agents)
    .execute(&mut *db)
    .await
    .map_err(StoreError::doing("give hosts to agents"))?;
    let moving: Vec<i64> = sqlx::query_scalar(include_str!("give_hosts.sql"))
        .bind(&first)
        .bind(&last)
        .bind(&agents)
        .fetch_all(&mut *db)
        .await
        .map_err(StoreError::doing("take hosts from their agents"))?;
    if moving.is_empty() { Ok(()) } else { handover(db, &moving, now).await }
}

/// Gives the hosts of a subnet from one member of a region to another at once, as part of the
/// transaction that delegates the subnet. Routes on their way to the former agent are queued again.
/// Returns the hosts.
pub(crate) async fn move_hosts(
    db: &mut PgConnection,
    subnet: &Range,
    (from, to): (AgentId, AgentId),
) -> Result<Vec<i64>, StoreError> {
    let doing = StoreError::doing("move the hosts of a subnet within a region");
    let hosts: Vec<i64> = sqlx::query_scalar(include_str!("lock_hosts.sql"))
        .bind(subnet.first())
        .bind(subnet.last())
        .bind(from.get())
        .fetch_all(&mut *db)
        .await
        .map_err(doing)?;
    queue_routes_of_hosts_again(db, &hosts).await?;
    sqlx::query(
        "UPDATE hosts SET state = 'delegated', agent = $2, attempts = 0, silences = 0,
                          reason = NULL
         WHERE id = ANY($1)",
    )
    .bind(&hosts)
    .bind(to.get())
    .execute(db)
    .await
    .map_err(doing)?;
    Ok(hosts)
}

/// Takes the hosts of a subnet from their agent, as part of the transaction that ends the
/// delegation. When the agent has released them they wait for the next agent of the subnet.
pub(crate) async fn take_hosts(
    db: &mut PgConnection,
    subnet: &Range,
    now: UnixMillis,
) -> Result<(), StoreError> {
    let moving: Vec<i64> = sqlx::query_scalar(include_str!("take_hosts.sql"))
        .bind(subnet.first())
        .bind(subnet.last())
        .fetch_all(&mut *db)
        .await
        .map_err(StoreError::doing("take hosts from their agent"))?;
    if moving.is_empty() { Ok(()) } else { handover(db, &moving, now).await }
}

/// Gives those of these hosts that wait to the agents of their subnets. Returns their number.
pub async fn give_waiting_hosts(store: &Store, hosts: &[HostId]) -> Result<u64, StoreError> {
    let doing = StoreError::doing("give hosts to the agents of their subnets");
    let mut tx = store.begin().await.map_err(doing)?;
    let hosts: Vec<i64> = hosts.iter().map(|host| host.get()).collect();
    lock_delegations(&mut tx, &hosts).await?;
    let given = give_waiting(&mut tx, &hosts).await?;
    commit(tx).await.map_err(doing)?;
    Ok(given)
}

/// Locks the delegations of the subnets of these hosts, before the transaction that is to
/// [`give_waiting`] changes anything. Else a subnet that is moved, or freed with its agent, at the
/// same moment would leave these hosts with its former agent for good.
pub(crate) async fn lock_delegations(
    db: &mut PgConnection,
    hosts: &[i64],
) -> Result<(), StoreError> {
    sqlx::query(include_str!("lock_delegations.sql"))
        .bind(hosts)
        .execute(db)
        .await
        .map_err(StoreError::doing("lock the delegations of hosts"))?;
    Ok(())
}

/// Gives those of these hosts that wait to the agents of their subnets, as part of the transaction
/// that puts them there or frees them, and that has locked the delegations. Returns their number.
pub(crate) async fn give_waiting(db: &mut PgConnection, hosts: &[i64]) -> Result<u64, StoreError> {
    let given = sqlx::query(include_str!("give_waiting.sql"))
        .bind(hosts)
        .execute(db)
        .await
        .map_err(StoreError::doing("give hosts to the agents of their subnets"))?;
    Ok(given.rows_affected())
}

/// Orders hosts that move to be released. They were marked first: routing locks the hosts to which
/// it routes, so that either it sees them moving or its routes are seen here.
async fn handover(
    db: &mut PgConnection,
    moving: &[i64],
    now: UnixMillis,
) -> Result<(), StoreError> {
    for (doing, step) in [
        ("end orders that a move replaces", include_str!("replace_orders.sql")),
        ("order hosts to be handed over", include_str!("order_handovers.sql")),
    ] {
        sqlx::query(step)
            .bind(moving)
            .bind(Moment(now))
            .execute(&mut *db)
            .await
            .map_err(StoreError::doing(doing))?;
    }
    queue_routes_of_hosts_again(db, moving).await
}

/// Queues the routes to hosts again that are on their way to the present agents of these. The
/// caller has locked the hosts.
async fn queue_routes_of_hosts_again(
    db: &mut PgConnection,
    hosts: &[i64],
) -> Result<(), StoreError> {
    for (doing, step) in [
        ("queue routes to hosts that move again", include_str!("queue_routes_again.sql")),
        ("take routes to hosts that move back", include_str!("take_routes_back.sql")),
    ] {
        sqlx::query(step).bind(hosts).execute(&mut *db).await.map_err(StoreError::doing(doing))?;
    }
    Ok(())
}
