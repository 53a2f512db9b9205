//! Searches whose target answers no agent.

use std::net::IpAddr;

use hierarchy::Range;
use model::{SearchId, UnixMillis};

use crate::columns::{int, range};
use crate::commit::commit;
use crate::delegations::take_hosts;
use crate::moment::Moment;
use crate::probes::Target;
use crate::{Store, StoreError, urls};

/// Another known address of a subnet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubnetAddress {
    pub address: IpAddr,
    /// http or https.
    pub scheme: String,
    /// Authority of a host there.
    pub authority: String,
    /// When no agent got an answer from it; none when it was not tried, or has answered since.
    pub silent_since: Option<UnixMillis>,
}

/// Known addresses inside a subnet, one host each; at most `limit`.
pub async fn addresses_in_subnet(
    store: &Store,
    subnet: &Range,
    limit: u32,
) -> Result<Vec<SubnetAddress>, StoreError> {
    let rows: Vec<(IpAddr, String, String, Option<Moment>)> = sqlx::query_as(
        "SELECT DISTINCT ON (h.address) h.address, h.scheme, h.authority, a.since
         FROM hosts h LEFT JOIN silent_addresses a ON a.address = h.address
         WHERE h.first = $1 AND h.last = $2 AND h.address IS NOT NULL
         ORDER BY h.address, h.id LIMIT $3",
    )
    .bind(subnet.first())
    .bind(subnet.last())
    .bind(i64::from(limit))
    .fetch_all(&store.pool())
    .await
    .map_err(StoreError::doing("list the known addresses of a subnet"))?;
    let address_of =
        |(address, scheme, authority, since): (IpAddr, String, String, Option<Moment>)| {
            SubnetAddress { address, scheme, authority, silent_since: since.map(|at| at.0) }
        };
    Ok(rows.into_iter().map(address_of).collect())
}

/// Closes a search whose target answers no agent and opens one with another target for the same
/// subnet, in one transaction. Returns whether the search was open.
pub async fn retarget(
    store: &Store,
    search: SearchId,
    target: &Target,
    now: UnixMillis,
) -> Result<bool, StoreError> {
    let doing = StoreError::doing("try another address of a subnet");
    let mut tx = store.begin().await.map_err(doing)?;
    let over = sqlx::query(include_str!("close_silent.sql"))
        .bind(search.get())
        .bind(Moment(now))
        .execute(&mut *tx)
        .await
        .map_err(doing)?;
    if over.rows_affected() == 0 {
        return Ok(false);
    }
    sqlx::query(include_str!("open_with_target.sql"))
        .bind(search.get())
        .bind(target.address)
        .bind(target.host.as_str())
        .bind(i32::from(target.port))
        .bind(Moment(now))
        .execute(&mut *tx)
        .await
        .map_err(doing)?;
    tx.commit().await.map_err(doing)?;
    Ok(true)
}

/// When the hosts of a subnet in which nothing answered are tried again.
#[derive(Debug, Clone, Copy)]
pub struct Retries {
    /// Times of the next try: after a host's first try, its second, and each later one.
    pub next_at: [UnixMillis; 3],
    /// Tries after which a host is given up.
    pub attempts: u32,
    /// A host that is given up for the first time may be found again from then on. The pause until
    /// then doubles each time, up to 32 times, unless it had an agent meanwhile.
    pub given_up_until: UnixMillis,
}

/// Closes a search without an answer from its target. Waiting hosts of its subnet are tried again
/// or given up; the waiting URLs of those that are given up are deleted. Hosts that still have the
/// agent of a larger subnet, from which theirs was separated, are taken from it: they wait like the
/// others then, instead of being searched for at all times.
pub async fn end_unanswered(
    store: &Store,
    search: SearchId,
    reason: &str,
    retries: Retries,
    now: UnixMillis,
) -> Result<(), StoreError> {
    let doing = StoreError::doing("end a search without an answer");
    let mut tx = store.begin().await.map_err(doing)?;
    let failed: Vec<i64> = sqlx::query_scalar(include_str!("end_unanswered.sql"))
        .bind(search.get())
        .bind(reason)
        .bind(retries.next_at.map(Moment).to_vec())
        .bind(int(retries.attempts))
        .bind(Moment(now))
        .bind(Moment(retries.given_up_until))
        .fetch_all(&mut *tx)
        .await
        .map_err(doing)?;
    urls::drop_waiting(&mut tx, &failed).await?;
    let undelegated: Option<(IpAddr, IpAddr)> =
        sqlx::query_as(include_str!("undelegated_subnet.sql"))
            .bind(search.get())
            .fetch_optional(&mut *tx)
            .await
            .map_err(doing)?;
    if let Some((first, last)) = undelegated {
        take_hosts(&mut tx, &range(first, last)?, now).await?;
    }
    commit(tx).await.map_err(doing)
}
