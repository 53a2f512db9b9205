//! Where approved agents are, for the predictor.

use std::net::IpAddr;

use model::{AgentId, PlaceClaim};
use sqlx::types::Json;

use crate::{Store, StoreError};

/// An approved agent with what is known of its place without measurements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentSite {
    /// The agent that it is about.
    pub agent: AgentId,
    /// Its home address.
    pub home: IpAddr,
    /// Where its owner says it is.
    pub claim: Option<PlaceClaim>,
}

/// The sites of the approved agents, sorted by agent.
pub async fn sites(store: &Store) -> Result<Vec<AgentSite>, StoreError> {
    let rows: Vec<(i64, IpAddr, Option<Json<PlaceClaim>>)> =
        sqlx::query_as("SELECT id, home, place FROM agents WHERE state = 'approved' ORDER BY id")
            .fetch_all(store.pool())
            .await
            .map_err(StoreError::doing("read where agents are"))?;
    let site = |(id, home, claim): (i64, IpAddr, Option<Json<PlaceClaim>>)| AgentSite {
        agent: AgentId::new(id),
        home,
        claim: claim.map(|claim| claim.0),
    };
    Ok(rows.into_iter().map(site).collect())
}
