//! The pins, exclusions and drains that count now.

use delegation::Constraints;
use delegation::constraints::{Exclusion, Pin};
use model::{ExclusionId, PinId, UnixMillis};
use store::constraints::{self, Constraint, Kind};
use store::{Store, StoreError, drains};

/// Reads pins, exclusions and drains. They are few, and any coordinator may have changed them, so
/// that nothing is cached.
pub async fn current_constraints(
    store: &Store,
    now: UnixMillis,
) -> Result<Constraints, StoreError> {
    let pins = constraints::list_active(store, Kind::Pin, now).await?;
    let exclusions = constraints::list_active(store, Kind::Exclusion, now).await?;
    let drained = drains::list(store).await?.into_iter().map(|drain| drain.agent).collect();
    let constraints = Constraints::new(
        pins.into_iter().map(pin).collect(),
        exclusions.into_iter().map(exclusion).collect(),
    );
    Ok(constraints.with_drained(drained))
}

fn pin(rule: Constraint) -> Pin {
    Pin { id: PinId::new(rule.id), scope: rule.scope, agent: rule.agent }
}

fn exclusion(rule: Constraint) -> Exclusion {
    Exclusion { id: ExclusionId::new(rule.id), scope: rule.scope, agent: rule.agent }
}
