//! Patience with probe orders ends.

use store::probes;

use crate::runtime::events::Event;
use crate::runtime::outcome::Outcome;
use crate::runtime::quantity::quantity;
use crate::runtime::state::Coordinator;

/// Takes orders back from agents that fell asleep or were paused: they are asked again another
/// time. Ends orders that were not answered in time, so that their searches go on without.
pub async fn run(coordinator: &Coordinator) -> Result<Outcome, anyhow::Error> {
    let limits = &coordinator.config.limits;
    let now = coordinator.now();
    let asked_before = now.plus_ms(-1_000 * i64::from(limits.probe_deadline_s));
    let withdrawn = probes::withdraw(&coordinator.store, now).await?;
    let expired =
        probes::expire(&coordinator.store, asked_before, coordinator.heard_since(), now).await?;
    if withdrawn + expired == 0 {
        return Ok(Outcome::Idle);
    }
    coordinator.events.emit(Event::ProbesExpired);
    Ok(Outcome::Done(format!("took {} back, gave {expired} up", quantity(withdrawn, "order"))))
}
