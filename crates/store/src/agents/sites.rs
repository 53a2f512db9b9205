//! Where approved agents are, for the predictor.

use std::net::IpAddr;

use model::{AgentId, PlaceClaim, UnixMillis};
use sqlx::types::Json;

use crate::moment::Moment;
use crate::{Store, StoreError};

/// An approved agent with what is known of its place without measurements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentSite {
    pub agent: AgentId,
    /// Its home address.
    pub home: IpAddr,
    /// When its machine was moved to this home; none where it never moved.
    pub home_since: Option<UnixMillis>,
    /// Where its owner says it is.
    pub claim: Option<PlaceClaim>,
    /// Its last heartbeat, the end of its announced sleep, or its approval: the last of them.
    pub expected_at: Option<UnixMillis>,
}

type SiteRow = (i64, IpAddr, Option<Moment>, Option<Json<PlaceClaim>>, Option<Moment>);

/// The sites of the approved agents, sorted by agent.
pub async fn sites(store: &Store) -> Result<Vec<AgentSite>, StoreError> {
    let rows: Vec<SiteRow> = sqlx::query_as(
        "SELECT id, home, home_since, place,
                greatest(last_heartbeat_at, asleep_until, approved_at)
         FROM agents WHERE state = 'approved' ORDER BY id",
    )
    .fetch_all(&store.pool())
    .await
    .map_err(StoreError::doing("read where agents are"))?;
    let site = |(id, home, home_since, claim, expected_at): SiteRow| AgentSite {
        agent: AgentId::new(id),
        home,
        home_since: home_since.map(|since| since.0),
        claim: claim.map(|claim| claim.0),
        expected_at: expected_at.map(|at| at.0),
    };
    Ok(rows.into_iter().map(site).collect())
}
