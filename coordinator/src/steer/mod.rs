//! The admin's hand: pins, exclusions and overrides.
//!
//! The road: [`orders`] takes an admin's wish, refuses nonsense, and either previews it or writes
//! it down. What follows from pins and exclusions is computed by [`plan`] (the same for the preview
//! and for the real thing) and carried out by the reconciler `steer`. An override is carried out at
//! once ([`overriding`]).

pub mod give;
pub mod orders;
pub mod overriding;
pub mod passed_over;
pub mod plan;
pub mod preview;

use delegation::Steering;
use delegation::steering::{Exclusion, Pin};
use hierarchy::Range;
use protocol::{AgentId, ExclusionId, PinId};
use store::StoreError;
use store::steering::{self, Kind, Rule};

use crate::atlas::Atlas;
use crate::state::Coordinator;

/// What admins decided beforehand, as it counts now. Read anew each time: it is little, and any
/// coordinator may have changed it.
pub async fn steering(coordinator: &Coordinator) -> Result<Steering, StoreError> {
    let now = coordinator.now();
    let pins = steering::counting(&coordinator.store, Kind::Pin, now).await?;
    let exclusions = steering::counting(&coordinator.store, Kind::Exclusion, now).await?;
    Ok(Steering::new(
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
pub fn may_settle(atlas: &Atlas, steering: &Steering, agent: AgentId, home: &Range) -> bool {
    let hierarchy = atlas.hierarchy();
    let Some(subnet) = hierarchy.find(home) else { return true };
    steering.pin(hierarchy, subnet).is_none()
        && steering.exclusion(hierarchy, subnet, agent).is_none()
}
