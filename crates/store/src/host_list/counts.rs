//! How many hosts a filter leaves, by state.

use model::{AgentId, HostState};
use sqlx::{Postgres, QueryBuilder};

use super::{HostFilter, narrow};
use crate::bounded_count::{BoundedCount, COUNT_MAX};
use crate::columns::read_word;
use crate::{Store, StoreError};

/// The states in the order in which a host passes them.
const STATES: [HostState; 5] = [
    HostState::Unresolved,
    HostState::Resolved,
    HostState::Delegated,
    HostState::Moving,
    HostState::Failed,
];

/// Counts the hosts in each state that pass the filter, whose own state is ignored: a person who
/// has chosen one state sees what the others would show.
pub async fn count_by_state(
    store: &Store,
    filter: &HostFilter,
) -> Result<Vec<(HostState, BoundedCount)>, StoreError> {
    let filter = HostFilter { state: None, ..filter.clone() };
    if let Some(agent) = filter.agent.filter(|_| filter.is_of_agent()) {
        of_agent(store, agent).await
    } else if filter.is_narrow() {
        grouped(store, &filter).await
    } else {
        one_by_one(store, &filter).await
    }
}

/// Hosts with an agent are delegated or moving, so that the others need not be told apart.
async fn of_agent(
    store: &Store,
    agent: AgentId,
) -> Result<Vec<(HostState, BoundedCount)>, StoreError> {
    let (all, moving): (i64, i64) = sqlx::query_as(include_str!("count_of_agent.sql"))
        .bind(agent.get())
        .bind(COUNT_MAX + 1)
        .fetch_one(&store.pool())
        .await
        .map_err(StoreError::doing("count the hosts of an agent"))?;
    let more = all > COUNT_MAX;
    let count = |state| match state {
        HostState::Delegated => all - moving,
        HostState::Moving => moving,
        HostState::Unresolved | HostState::Resolved | HostState::Failed => 0,
    };
    let bounded = |state| (state, BoundedCount { count: count(state).unsigned_abs(), more });
    Ok(STATES.map(bounded).to_vec())
}

/// The hosts that the filter leaves are read by the index of the filter, and grouped.
async fn grouped(
    store: &Store,
    filter: &HostFilter,
) -> Result<Vec<(HostState, BoundedCount)>, StoreError> {
    let mut query: QueryBuilder<Postgres> =
        QueryBuilder::new("SELECT state, count(*) FROM (SELECT h.state FROM hosts h WHERE true");
    narrow(&mut query, filter);
    if filter.name.is_some() {
        // Without an order the planner reads the table until it has met enough hosts of the name.
        query.push(" ORDER BY h.authority USING ~<~");
    }
    query.push(" LIMIT ").push_bind(COUNT_MAX + 1).push(") AS h GROUP BY state");
    let rows: Vec<(String, i64)> = query
        .build_query_as()
        .fetch_all(&store.pool())
        .await
        .map_err(StoreError::doing("count hosts"))?;
    // Where the bound was reached, each state may have more than was seen of it.
    let more = rows.iter().map(|(_, count)| count).sum::<i64>() > COUNT_MAX;
    let mut counts = Vec::new();
    for state in STATES {
        let mut count = BoundedCount { count: 0, more };
        for (word, rows) in &rows {
            if read_word::<HostState>("hosts", "state", "a group", word)? == state {
                count.count = rows.unsigned_abs();
            }
        }
        counts.push((state, count));
    }
    Ok(counts)
}

/// All hosts: each state has an index, of which a bounded part is read.
async fn one_by_one(
    store: &Store,
    filter: &HostFilter,
) -> Result<Vec<(HostState, BoundedCount)>, StoreError> {
    let mut counts = Vec::new();
    for state in STATES {
        let mut query: QueryBuilder<Postgres> =
            QueryBuilder::new("SELECT count(*) FROM (SELECT FROM hosts h WHERE true");
        narrow(&mut query, &HostFilter { state: Some(state), ..filter.clone() });
        query.push(" LIMIT ").push_bind(COUNT_MAX + 1).push(") AS h");
        let count: i64 = query
            .build_query_scalar()
            .fetch_one(&store.pool())
            .await
            .map_err(StoreError::doing("count hosts in a state"))?;
        counts.push((state, BoundedCount::of_limited(count)));
    }
    Ok(counts)
}
