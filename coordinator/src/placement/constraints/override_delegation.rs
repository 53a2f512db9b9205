//! Override: an admin moves a delegated subnet to another agent, once.

use delegation::Constraints;
use hierarchy::Range;
use model::{AgentId, DelegationId};
use store::StoreError;
use store::delegations::{Assignment, Cause, DelegationOutcome, subnet_states};
use store::regions::Loans;

use crate::placement::Placement;
use crate::placement::constraints::assign::{assign, moved_from};
use crate::placement::constraints::preview::preview_moves;
use crate::placement::constraints::requests::{Refusal, RequestResult, refuse_inactive};
use crate::runtime::constraints::current_constraints;
use crate::runtime::delegated_hierarchy::DelegatedHierarchy;

/// The request of an admin.
#[derive(Debug, Clone, Copy)]
pub struct Override<'a> {
    /// The present delegation; a later one is not overridden.
    pub delegation: DelegationId,
    pub subnet: Range,
    /// The agent that gets the subnet.
    pub agent: AgentId,
    pub reason: &'a str,
    /// Name of the admin.
    pub by: &'a str,
}

/// Executes an override, or previews it.
pub async fn override_once(
    placement: &Placement,
    request: &Override<'_>,
    dry_run: bool,
) -> Result<RequestResult<DelegationId>, StoreError> {
    let Some(delegated) = placement.hierarchy.current() else {
        return Ok(Err(Refusal::NoHierarchy));
    };
    if let Some(refusal) = refuse_inactive(placement, request.agent, false).await? {
        return Ok(Err(refusal));
    }
    let constraints = current_constraints(&placement.store, placement.clock.now()).await?;
    let state = subnet_states(&placement.store, &[request.subnet]).await?.remove(0);
    let Some(held) = state.held.filter(|held| held.id == request.delegation) else {
        return Ok(Err(Refusal::Ended(request.delegation)));
    };
    if held.agent == request.agent {
        return Ok(Err(Refusal::HasIt(held.agent)));
    }
    if let Some(refusal) = refuse_constrained(&delegated, &constraints, request) {
        return Ok(Err(refusal));
    }
    let loans = Loans::read(&placement.store, placement.clock.now()).await?;
    let is_moved_by_region = moved_from(placement, &request.subnet, request.agent).is_some();
    if loans.are_lent(held.agent) && !is_moved_by_region {
        return Ok(Err(Refusal::Lent));
    }
    let moves = [(request.subnet, Some(request.agent))];
    let preview = preview_moves(placement, &delegated, &moves).await?;
    if dry_run {
        return Ok(Ok((None, preview)));
    }
    let assignment = Assignment {
        subnet: request.subnet,
        agent: request.agent,
        fencing_number: state.fencing_number,
        cause: Cause::Override,
        by: request.by,
        note: request.reason,
    };
    Ok(match assign(placement, &assignment).await? {
        DelegationOutcome::Applied(id) => Ok((Some(id), preview)),
        DelegationOutcome::Outdated => Err(Refusal::Meanwhile),
        DelegationOutcome::AgentGone => Err(Refusal::NoAgent(request.agent)),
        DelegationOutcome::Lent => Err(Refusal::Lent),
    })
}

/// `apply_constraints` or `drain_agents` would undo an override against a pin, an exclusion or a
/// drain at once.
fn refuse_constrained(
    delegated: &DelegatedHierarchy,
    constraints: &Constraints,
    request: &Override<'_>,
) -> Option<Refusal> {
    if constraints.drained().contains(&request.agent) {
        return Some(Refusal::Drained(request.agent));
    }
    let hierarchy = delegated.hierarchy();
    let Some(subnet) = hierarchy.find_delegable(&request.subnet) else {
        return Some(Refusal::NotDelegable(request.subnet));
    };
    if let Some(pin) = constraints.pin(hierarchy, subnet) {
        return Some(Refusal::Pinned(pin.id));
    }
    let exclusion = constraints.exclusion(hierarchy, subnet, request.agent)?;
    Some(Refusal::Excluded { agent: request.agent, exclusion: exclusion.id })
}
