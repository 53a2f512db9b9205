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
pub mod skipped;

use delegation::Constraints;
use delegation::constraints::{Exclusion, Pin};
use hierarchy::Range;
use model::{AgentId, ExclusionId, PinId};
use store::StoreError;
use store::constraints::{self, Kind, Rule};

use crate::runtime::delegated_hierarchy::DelegatedHierarchy;
use crate::runtime::state::Coordinator;

/// What admins decided beforehand, as it counts now. Read anew each time: it is little, and any
/// coordinator may have changed it.
pub async fn constraints(coordinator: &Coordinator) -> Result<Constraints, StoreError> {
    let now = coordinator.now();
    let pins = constraints::counting(&coordinator.store, Kind::Pin, now).await?;
    let exclusions = constraints::counting(&coordinator.store, Kind::Exclusion, now).await?;
    Ok(Constraints::new(
        pins.into_iter().map(pin).collect(),
        exclusions.into_iter().map(exclusion).collect(),
    ))
}

fn pin(rule: Rule) -> Pin {
    Pin { id: PinId::new(rule.id), scope: rule.scope, agent: rule.agent }
}

fn exclusion(rule: Rule) -> Exclusion {
    Exclusion { id: ExclusionId::new(rule.id), scope: rule.scope, agent: rule.agent }
}

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
