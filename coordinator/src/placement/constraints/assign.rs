//! A subnet is given to an agent by hand, and everybody whom it concerns is told.

use delegation::Delegation;
use hierarchy::Range;
use model::Reason;
use store::StoreError;
use store::delegations::{self, Assigned, Assignment, Cause};

use crate::runtime::events::Event;
use crate::runtime::state::Coordinator;

/// Carries an assignment out: in the store, in the delegated hierarchy, and to whom it concerns.
pub async fn give(
    coordinator: &Coordinator,
    assignment: &Assignment<'_>,
) -> Result<Assigned, StoreError> {
    let _writing = coordinator.current_hierarchy.writing().await;
    let assigned = delegations::assign(&coordinator.store, assignment, coordinator.now()).await?;
    if let Assigned::Made(_) = assigned {
        let reason = match assignment.cause {
            Cause::Pin(_) => Reason::Pinned,
            Cause::Override => Reason::Override,
            Cause::Balance => Reason::Balanced,
        };
        show(coordinator, &assignment.subnet, Delegation { agent: assignment.agent, reason });
    }
    Ok(assigned)
}

/// Shows a delegation that was made outside of a search: in the delegated hierarchy, and to whom it concerns. The
/// caller keeps others from changing delegations meanwhile.
pub fn show(coordinator: &Coordinator, range: &Range, holding: Delegation) {
    let entered = coordinator.delegated().and_then(|delegated| {
        delegated.hierarchy().find(range).map(|subnet| delegated.enter(subnet, holding))
    });
    // Who had it is told at once to let go of the hosts.
    let former = entered.flatten().map(|former| former.agent);
    coordinator.agent_wakeups.wake(former.into_iter().chain([holding.agent]));
    coordinator.events.emit(Event::DelegationsChanged);
}
