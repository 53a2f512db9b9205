//! Agents whose machine moved to another network get another home.

use std::time::Duration;

use hierarchy::Hierarchy;
use store::StoreError;
use store::agents::{self, MovedAgent};

use crate::placement::Placement;
use crate::placement::agent_administration::enter_stored;
use crate::placement::apply_constraints::reopen_many;
use crate::runtime::delegated_hierarchy::DelegatedHierarchy;

/// How long heartbeats come from another address before that is the home: a machine that is away
/// for a day, or behind a proxy that is misconfigured for some hours, has not moved.
const MOVED_AFTER: Duration = Duration::from_hours(24);

/// Subnets of an agent that moved for which searches are opened. Calibration finds the others.
const SEARCHED_AGAIN: usize = 5_000;

/// Gives agents that moved their new home addresses, and searches for the agents of the subnets
/// that were theirs where they were before. Returns the number of agents.
pub(super) async fn follow_moves(
    placement: &Placement,
    delegated: &DelegatedHierarchy,
) -> Result<u32, StoreError> {
    let mut followed = 0;
    for moved in agents::moved(&placement.store, MOVED_AFTER).await? {
        // A private address says nothing of the network: the agent may use a tunnel.
        if delegated.hierarchy().smallest_delegable(moved.source).is_some() {
            followed += u32::from(follow(placement, delegated, &moved).await?);
        }
    }
    Ok(followed)
}

/// Whether the machine is in another network than before. An address of the same subnet is another
/// one of the same line, and a private address or one of several agents was that of a proxy.
fn is_elsewhere(hierarchy: &Hierarchy, moved: &MovedAgent) -> bool {
    let former = hierarchy.smallest_delegable(moved.home);
    former.is_some() && former != hierarchy.smallest_delegable(moved.source) && !moved.is_shared
}

async fn follow(
    placement: &Placement,
    delegated: &DelegatedHierarchy,
    moved: &MovedAgent,
) -> Result<bool, StoreError> {
    let hierarchy = delegated.hierarchy();
    let is_elsewhere = is_elsewhere(hierarchy, moved);
    let writing = placement.hierarchy.writing().await;
    let now = placement.clock.now();
    let former = agents::move_home(&placement.store, moved, is_elsewhere, now).await?;
    let Some(former) = former else { return Ok(false) };
    enter_stored(placement, &former).await?;
    drop(writing);
    let MovedAgent { agent, home, source, .. } = moved;
    tracing::info!(%agent, %home, %source, is_elsewhere, "an agent has another home address");
    let mut searched = former;
    if is_elsewhere {
        let table = delegated.delegation_table();
        let held = table.subnets_of(*agent).map(|subnet| hierarchy.subnet(subnet).range());
        searched.extend(held.take(SEARCHED_AGAIN));
    }
    searched.sort();
    searched.dedup();
    reopen_many(placement, &searched, u64::MAX).await?;
    Ok(true)
}
