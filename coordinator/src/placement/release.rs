//! Release of a subnet whose next agent is not known.

use store::StoreError;
use store::delegations::{self, SubnetState};

use crate::placement::Placement;
use crate::runtime::events::Event;

/// Takes a subnet from its agent and removes it from the delegation table. The agent's waiting
/// heartbeat is answered at once, because the agent has to release the hosts. `by` and `why` are
/// for the audit log. Returns whether the subnet was taken.
pub(super) async fn release(
    placement: &Placement,
    state: &SubnetState,
    by: &str,
    why: &str,
) -> Result<bool, StoreError> {
    let SubnetState { subnet, fencing_number, held, .. } = state;
    let writing = placement.hierarchy.writing().await;
    let now = placement.clock.now();
    let released =
        delegations::release(&placement.store, subnet, *fencing_number, by, why, now).await?;
    if !released {
        return Ok(false);
    }
    placement.hierarchy.enter(subnet, None);
    drop(writing);
    placement.agent_wakeups.wake(held.as_ref().map(|held| held.agent));
    placement.events.emit(Event::SubnetsReleased);
    Ok(true)
}
