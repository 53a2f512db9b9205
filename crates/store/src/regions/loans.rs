//! Loans: which agents have subnets that are lent to their regions.

use std::collections::HashMap;

use model::{AgentId, RegionId, UnixMillis};

use crate::moment::Moment;
use crate::{Store, StoreError};

/// The agents of regions that have a loan now.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Loans(HashMap<AgentId, RegionId>);

impl Loans {
    /// Reads the loans that have not ended.
    pub async fn read(store: &Store, now: UnixMillis) -> Result<Self, StoreError> {
        let rows: Vec<(i64, i64)> = sqlx::query_as(
            "SELECT a.id, r.id FROM agents a JOIN regions r ON r.id = a.region
             WHERE r.lent_until > $1",
        )
        .bind(Moment(now))
        .fetch_all(&store.pool())
        .await
        .map_err(StoreError::doing("list the agents with loans"))?;
        let region_of = |(agent, region)| (AgentId::new(agent), RegionId::new(region));
        Ok(Self(rows.into_iter().map(region_of).collect()))
    }

    /// Whether the subnets of this agent are lent to its region.
    pub fn are_lent(&self, holder: AgentId) -> bool {
        self.0.contains_key(&holder)
    }

    /// Whether a loan keeps the subnets of `holder` from `agent`: they are lent to a region in
    /// which it is not.
    pub fn keep_from(&self, holder: AgentId, agent: AgentId) -> bool {
        let region = self.0.get(&holder);
        region.is_some() && agent != holder && self.0.get(&agent) != region
    }
}
