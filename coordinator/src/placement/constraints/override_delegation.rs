//! A subnet goes to another agent because an admin says so, once.

use delegation::Constraints;
use hierarchy::Range;
use model::{AgentId, DelegationId};
use store::StoreError;
use store::delegations::{Assigned, Assignment, Cause, standing};

use crate::placement::Placement;
use crate::placement::constraints::assign::give;
use crate::placement::constraints::preview;
use crate::placement::constraints::requests::{Outcome, Refusal, not_working};
use crate::runtime::constraints::current_constraints;
use crate::runtime::delegated_hierarchy::DelegatedHierarchy;

/// An override that an admin wishes for.
#[derive(Debug, Clone, Copy)]
pub struct Override<'a> {
    /// The delegation that holds.
    pub delegation: DelegationId,
    /// Its subnet.
    pub subnet: Range,
    /// Who shall have it.
    pub agent: AgentId,
    /// Why.
    pub reason: &'a str,
    /// The admin.
    pub by: &'a str,
}

/// Gives a subnet to an agent, once, or previews that.
pub async fn override_once(
    placement: &Placement,
    wish: &Override<'_>,
    dry_run: bool,
) -> Result<Outcome<DelegationId>, StoreError> {
    let Some(delegated) = placement.hierarchy.current() else {
        return Ok(Err(Refusal::NoHierarchy));
    };
    if let Some(refusal) = not_working(placement, wish.agent).await? {
        return Ok(Err(refusal));
    }
    let constraints = current_constraints(&placement.store, placement.clock.now()).await?;
    let standing = standing(&placement.store, &[wish.subnet]).await?.remove(0);
    let holder =
        standing.held.as_ref().filter(|held| held.id == wish.delegation).map(|held| held.agent);
    let Some(holder) = holder else { return Ok(Err(Refusal::Ended(wish.delegation))) };
    if holder == wish.agent {
        return Ok(Err(Refusal::HasIt(holder)));
    }
    if let Some(refusal) = withheld(&delegated, &constraints, wish) {
        return Ok(Err(refusal));
    }
    let preview = preview::of(placement, &delegated, &[(wish.subnet, Some(wish.agent))]).await?;
    if dry_run {
        return Ok(Ok((None, preview)));
    }
    let assignment = Assignment {
        subnet: wish.subnet,
        agent: wish.agent,
        generation: standing.generation,
        cause: Cause::Override,
        by: wish.by,
        note: wish.reason,
    };
    Ok(match give(placement, &assignment).await? {
        Assigned::Made(id) => Ok((Some(id), preview)),
        Assigned::Outdated => Err(Refusal::Meanwhile),
        Assigned::AgentGone => Err(Refusal::NoAgent(wish.agent)),
    })
}

fn withheld(
    delegated: &DelegatedHierarchy,
    constraints: &Constraints,
    wish: &Override<'_>,
) -> Option<Refusal> {
    let hierarchy = delegated.hierarchy();
    let subnet = hierarchy.find(&wish.subnet)?;
    if let Some(pin) = constraints.pin(hierarchy, subnet) {
        return Some(Refusal::Pinned(pin.id));
    }
    let exclusion = constraints.exclusion(hierarchy, subnet, wish.agent)?;
    Some(Refusal::Excluded { agent: wish.agent, exclusion: exclusion.id })
}
