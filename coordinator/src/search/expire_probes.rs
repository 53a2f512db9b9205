//! Patience with probe orders ends.

use store::probes;

use crate::runtime::events::Event;
use crate::runtime::outcome::Outcome;
use crate::runtime::quantity::quantity;
use crate::search::DelegationSearch;

/// Takes orders back from agents that fell asleep or were paused: they are asked again another
/// time. Ends orders that were not answered in time, so that their searches go on without.
pub async fn run(parts: &DelegationSearch) -> Result<Outcome, anyhow::Error> {
    let limits = &parts.limits;
    let now = parts.clock.now();
    let asked_before = now.plus_ms(-1_000 * i64::from(limits.probe_deadline_s));
    let withdrawn = probes::withdraw(&parts.store, now).await?;
    let expired = probes::expire(
        &parts.store,
        asked_before,
        parts.limits.heard_since(parts.clock.now()),
        now,
    )
    .await?;
    if withdrawn + expired == 0 {
        return Ok(Outcome::Idle);
    }
    parts.events.emit(Event::ProbesExpired);
    Ok(Outcome::Done(format!("took {} back, gave {expired} up", quantity(withdrawn, "order"))))
}
