//! Hosts of agents that are not heard of go to others.

use store::handovers;

use crate::intake::Intake;
use crate::runtime::events::Event;
use crate::runtime::outcome::Outcome;
use crate::runtime::quantity::quantity;

/// A request that was under way when the lease ended may take so long, with a little more for the
/// answer's way, in milliseconds.
const MARGIN_MS: i64 = 120_000;

/// Ends hand-overs whose agent cannot confirm: its lease is over, so that it fetches nothing until
/// it is heard of again.
pub async fn run(intake: &Intake) -> Result<Outcome, anyhow::Error> {
    let now = intake.clock.now();
    let lease_ms = 1_000 * i64::from(intake.limits.lease_s);
    let lapsed = handovers::lapse(&intake.store, now.plus_ms(-lease_ms - MARGIN_MS), now).await?;
    if lapsed == 0 {
        return Ok(Outcome::Idle);
    }
    intake.events.emit(Event::HostsReleased);
    Ok(Outcome::Done(format!(
        "took {} from agents that are not heard of",
        quantity(lapsed, "host")
    )))
}
