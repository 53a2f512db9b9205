//! Assignment of a subnet without a search.

use delegation::Delegation;
use hierarchy::Range;
use model::AgentId;
use store::StoreError;
use store::delegations::{self, Assignment, DelegationOutcome};

use crate::placement::Placement;
use crate::runtime::events::Event;
use crate::runtime::region_moves::addresses;

/// Commits an assignment, enters it in the delegation table and notifies the agents concerned.
pub async fn assign(
    placement: &Placement,
    assignment: &Assignment<'_>,
) -> Result<DelegationOutcome, StoreError> {
    let _writing = placement.hierarchy.writing().await;
    let moved_from = moved_from(placement, &assignment.subnet, assignment.agent);
    let now = placement.clock.now();
    let assigned = delegations::assign(&placement.store, assignment, moved_from, now).await?;
    if let DelegationOutcome::Applied(_) = assigned {
        let reason = assignment.cause.reason();
        let delegation = Delegation { agent: assignment.agent, reason };
        enter_and_notify(placement, &assignment.subnet, delegation);
    }
    Ok(assigned)
}

/// The agent that has the subnet, where its region moves the hosts to `agent` by itself.
pub fn moved_from(placement: &Placement, subnet: &Range, agent: AgentId) -> Option<AgentId> {
    let delegated = placement.hierarchy.current()?;
    let holder = delegated.agent_of(subnet)?;
    placement.region_moves.load().mover(addresses(subnet), holder, agent)
}

/// Enters a committed delegation in the delegation table and notifies the agents concerned. The
/// caller holds the writing lock since before the commit.
pub fn enter_and_notify(placement: &Placement, range: &Range, delegation: Delegation) {
    let former = placement.hierarchy.enter(range, Some(delegation));
    // The former agent must release the hosts of the subnet before the new one may fetch.
    let former = former.map(|former| former.agent);
    placement.agent_wakeups.wake(former.into_iter().chain([delegation.agent]));
    placement.events.emit(Event::DelegationsChanged);
}
