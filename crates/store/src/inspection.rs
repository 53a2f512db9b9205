//! Single facts for the question what became of a URL; each read costs some index look-ups.

use hierarchy::Range;
use model::{AgentId, HostId, UnixMillis};

use crate::moment::Moment;
use crate::{Store, StoreError};

/// The newest agent with this name, regardless of case; one that is not revoked first.
pub async fn agent_named(store: &Store, name: &str) -> Result<Option<AgentId>, StoreError> {
    let found: Option<i64> = sqlx::query_scalar(
        "SELECT id FROM agents WHERE lower(name) = lower($1)
         ORDER BY (state = 'revoked'), id DESC LIMIT 1",
    )
    .bind(name)
    .fetch_optional(&store.pool())
    .await
    .map_err(StoreError::doing("look up an agent by its name"))?;
    Ok(found.map(AgentId::new))
}

/// Place of a URL that has not reached its agent yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UrlPlace {
    /// It waits until its host has an agent.
    Pending,
    /// It goes to the agent with the next heartbeat.
    Route,
}

/// Where a URL of this host waits at the coordinator; none when it does not.
pub async fn place_of_url(
    store: &Store,
    host: HostId,
    agent: Option<AgentId>,
    url: &str,
) -> Result<Option<UrlPlace>, StoreError> {
    // An agent has at most some thousand routes.
    let (is_pending, is_route): (bool, bool) = sqlx::query_as(
        "SELECT EXISTS (SELECT FROM pending_urls WHERE host = $1 AND url = $3),
                EXISTS (SELECT FROM routes WHERE agent = $2 AND url = $3)",
    )
    .bind(host.get())
    .bind(agent.map(AgentId::get))
    .bind(url)
    .fetch_one(&store.pool())
    .await
    .map_err(StoreError::doing("find a URL that waits"))?;
    Ok(match (is_pending, is_route) {
        (true, _) => Some(UrlPlace::Pending),
        (false, true) => Some(UrlPlace::Route),
        (false, false) => None,
    })
}

/// Since when a search for the agent of exactly this subnet is open.
pub async fn open_search(store: &Store, subnet: &Range) -> Result<Option<UnixMillis>, StoreError> {
    let opened: Option<Moment> = sqlx::query_scalar(
        "SELECT opened_at FROM searches WHERE first = $1 AND last = $2 AND state = 'open'",
    )
    .bind(subnet.first())
    .bind(subnet.last())
    .fetch_optional(&store.pool())
    .await
    .map_err(StoreError::doing("find the open search of a subnet"))?;
    Ok(opened.map(|moment| moment.0))
}
