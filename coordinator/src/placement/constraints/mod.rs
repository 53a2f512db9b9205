//! The admin's hand: pins, exclusions and overrides.
//!
//! The road: [`orders`] takes an admin's wish, refuses nonsense, and either previews it or writes
//! it down. What follows from pins and exclusions is computed by [`plan`] (the same for the preview
//! and for the real thing) and carried out by the background task `steer`. An override is carried out at
//! once ([`overriding`]).

pub mod assign;
pub mod override_delegation;
pub mod plan;
pub mod preview;
pub mod requests;

use delegation::Constraints;
use hierarchy::Range;
use model::AgentId;

use crate::runtime::delegated_hierarchy::DelegatedHierarchy;

/// Whether an agent may settle in this subnet: it is not pinned to another, and the agent is not
/// excluded.
pub fn may_settle(
    delegated: &DelegatedHierarchy,
    constraints: &Constraints,
    agent: AgentId,
    home: &Range,
) -> bool {
    let hierarchy = delegated.hierarchy();
    let Some(subnet) = hierarchy.find(home) else { return true };
    constraints.pin(hierarchy, subnet).is_none()
        && constraints.exclusion(hierarchy, subnet, agent).is_none()
}
