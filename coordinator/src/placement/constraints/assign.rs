//! A subnet is given to an agent by hand, and everybody whom it concerns is told.

use delegation::Delegation;
use hierarchy::Range;
use model::Reason;
use store::StoreError;
use store::delegations::{self, Assigned, Assignment, Cause};

use crate::placement::Placement;
use crate::runtime::events::Event;

/// Carries an assignment out: in the store, in the delegated hierarchy, and to whom it concerns.
pub async fn give(
    placement: &Placement,
    assignment: &Assignment<'_>,
) -> Result<Assigned, StoreError> {
    let _writing = placement.hierarchy.writing().await;
    let assigned = delegations::assign(&placement.store, assignment, placement.clock.now()).await?;
    if let Assigned::Made(_) = assigned {
        let reason = match assignment.cause {
            Cause::Pin(_) => Reason::Pinned,
            Cause::Override => Reason::Override,
            Cause::Balance => Reason::Balanced,
        };
        show(placement, &assignment.subnet, Delegation { agent: assignment.agent, reason });
    }
    Ok(assigned)
}

/// Shows a delegation that was made outside of a search: in the delegated hierarchy, and to whom it concerns. The
/// caller keeps others from changing delegations meanwhile.
pub fn show(placement: &Placement, range: &Range, holding: Delegation) {
    let entered = placement.hierarchy.current().and_then(|delegated| {
        delegated.hierarchy().find(range).map(|subnet| delegated.enter(subnet, holding))
    });
    // Who had it is told at once to let go of the hosts.
    let former = entered.flatten().map(|former| former.agent);
    placement.agent_wakeups.wake(former.into_iter().chain([holding.agent]));
    placement.events.emit(Event::DelegationsChanged);
}
