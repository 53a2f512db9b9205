//! Agents whose machine moved to another network get another home.

use std::time::Duration;

use store::StoreError;
use store::agents::{self, MovedAgent};

use crate::placement::Placement;
use crate::placement::agent_administration::enter_stored;
use crate::placement::apply_constraints::reopen;
use crate::runtime::delegated_hierarchy::DelegatedHierarchy;

/// How long heartbeats come from another address before that is the home: a machine that is away
/// for a day, or behind a proxy that is misconfigured for some hours, has not moved.
const MOVED_AFTER: Duration = Duration::from_hours(24);

/// Gives agents that moved their new home addresses, and searches for the agents of the subnets
/// where they were at home before. Returns the number of agents.
pub(super) async fn follow_moves(
    placement: &Placement,
    delegated: &DelegatedHierarchy,
) -> Result<u32, StoreError> {
    let mut followed = 0;
    for moved in agents::moved(&placement.store, MOVED_AFTER).await? {
        // A private address says nothing of the network: the agent may use a tunnel.
        if delegated.hierarchy().smallest_delegable(moved.source).is_some() {
            followed += u32::from(follow(placement, &moved).await?);
        }
    }
    Ok(followed)
}

async fn follow(placement: &Placement, moved: &MovedAgent) -> Result<bool, StoreError> {
    let writing = placement.hierarchy.writing().await;
    let now = placement.clock.now();
    let Some(former) = agents::move_home(&placement.store, moved, now).await? else {
        return Ok(false);
    };
    for subnet in &former {
        enter_stored(placement, subnet).await?;
    }
    drop(writing);
    let MovedAgent { agent, home, source } = moved;
    tracing::info!(%agent, %home, %source, "an agent has moved to another network");
    reopen(placement, &former).await?;
    Ok(true)
}
