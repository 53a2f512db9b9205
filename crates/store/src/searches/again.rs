//! Repeated searches for subnets that have an agent, and the agents that a search skipped.

use std::net::IpAddr;

use hierarchy::Range;
use model::{SearchId, UnixMillis};
use sqlx::types::Json;

use crate::columns::range;
use crate::delegations::Skipped;
use crate::hosts::{WaitingHost, WaitingHostRow, waiting_host};
use crate::moment::Moment;
use crate::{Store, StoreError};

/// One host each of those of the subnets that have one with an address: the host with the most
/// pages. Left out are subnets with an open search, and those searched for after `since`, after
/// their last delegation and after the end of its pin. Those in which nothing answered a search
/// that ended after `silent_since` are left out as well.
pub async fn targets(
    store: &Store,
    subnets: &[Range],
    since: UnixMillis,
    silent_since: UnixMillis,
) -> Result<Vec<WaitingHost>, StoreError> {
    let rows: Vec<WaitingHostRow> = sqlx::query_as(include_str!("targets.sql"))
        .bind(subnets.iter().map(Range::first).collect::<Vec<_>>())
        .bind(subnets.iter().map(Range::last).collect::<Vec<_>>())
        .bind(Moment(since))
        .bind(Moment(silent_since))
        .fetch_all(&store.pool())
        .await
        .map_err(StoreError::doing("find what to probe in subnets"))?;
    rows.into_iter().map(waiting_host).collect()
}

/// Subnets whose delegation is provisional although no search for them is open: parts of a subnet
/// that a new generation split, since the search went with its target. Left out are those in which
/// nothing answered a search of their own that ended after `since`.
pub async fn left_provisional(store: &Store, since: UnixMillis) -> Result<Vec<Range>, StoreError> {
    let rows: Vec<(IpAddr, IpAddr)> = sqlx::query_as(
        "SELECT d.first, d.last FROM delegations d
         WHERE d.ended_at IS NULL AND d.provisional
           AND NOT EXISTS (SELECT FROM searches s
                           WHERE s.first = d.first AND s.last = d.last
                             AND (s.state = 'open'
                                  OR s.decided_at > greatest($1, d.decided_at)))
         ORDER BY d.id",
    )
    .bind(Moment(since))
    .fetch_all(&store.pool())
    .await
    .map_err(StoreError::doing("find provisional delegations without a search"))?;
    rows.into_iter().map(|(first, last)| range(first, last)).collect()
}

/// Closes the search for a pinned subnet without a decision. Returns whether it was open and the
/// pin applies; without a pin the search goes on.
pub async fn leave_pinned(
    store: &Store,
    search: SearchId,
    now: UnixMillis,
) -> Result<bool, StoreError> {
    let closed = sqlx::query(include_str!("leave_pinned.sql"))
        .bind(search.get())
        .bind(Moment(now))
        .execute(&store.pool())
        .await
        .map_err(StoreError::doing("end a search for a pinned subnet"))?;
    Ok(closed.rows_affected() == 1)
}

/// The agents that a search skipped when it decided.
pub async fn skipped(store: &Store, search: SearchId) -> Result<Vec<Skipped>, StoreError> {
    let found: Option<Json<Vec<Skipped>>> =
        sqlx::query_scalar("SELECT skipped FROM searches WHERE id = $1")
            .bind(search.get())
            .fetch_optional(&store.pool())
            .await
            .map_err(StoreError::doing("read the agents that a search skipped"))?;
    Ok(found.map(|found| found.0).unwrap_or_default())
}
