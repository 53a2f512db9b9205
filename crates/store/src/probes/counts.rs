//! Counts of probes, for the daily budgets.

use std::net::IpAddr;

use model::{AgentId, UnixMillis};

use crate::moment::Moment;
use crate::{Store, StoreError};

/// Probes of one agent towards one address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProbeCount {
    /// Who was asked.
    pub agent: AgentId,
    /// The address that was probed.
    pub address: IpAddr,
    /// How many probes went there.
    pub probes: u32,
    /// Whether they were asked for by searches.
    pub is_of_search: bool,
}

/// Counts the probes ordered since `since`, with any outcome.
pub async fn count_since(store: &Store, since: UnixMillis) -> Result<Vec<ProbeCount>, StoreError> {
    let rows: Vec<(i64, IpAddr, i64, bool)> = sqlx::query_as(
        "SELECT p.agent, coalesce(p.target, s.target), count(*), p.search IS NOT NULL
         FROM probes p LEFT JOIN searches s ON s.id = p.search
         WHERE p.asked_at >= $1 GROUP BY 1, 2, 4",
    )
    .bind(Moment(since))
    .fetch_all(&store.pool())
    .await
    .map_err(StoreError::doing("count the probes of a day"))?;
    let spent = |(agent, address, probes, is_of_search)| ProbeCount {
        agent: AgentId::new(agent),
        address,
        probes: u32::try_from(probes).unwrap_or(u32::MAX),
        is_of_search,
    };
    Ok(rows.into_iter().map(spent).collect())
}
