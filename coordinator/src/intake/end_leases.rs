//! Background task: takes hosts from agents whose lease has ended.

use store::handovers;

use crate::intake::Intake;
use crate::runtime::events::Event;
use crate::runtime::outcome::Outcome;
use crate::runtime::quantity::quantity;

/// Time after the end of a lease in which a request that was under way may still be answered, in
/// milliseconds.
const MARGIN_MS: i64 = 120_000;

/// Completes handovers that agents have not confirmed by the end of their leases: unreachable and
/// revoked agents, and agents that do not obey.
pub async fn run(intake: &Intake) -> Result<Outcome, anyhow::Error> {
    let now = intake.clock.now();
    let lease_ms = 1_000 * i64::from(intake.limits.lease_s);
    let ended = handovers::lapse(&intake.store, now.plus_ms(-lease_ms - MARGIN_MS), now).await?;
    if ended == 0 {
        return Ok(Outcome::Idle);
    }
    // URLs that these agents had confirmed are with no agent now.
    intake.recent_urls.forget();
    intake.events.emit(Event::HostsReleased);
    let summary = format!("took {} from agents whose leases ended", quantity(ended, "host"));
    let is_full = ended >= u64::from(handovers::LAPSED_AT_ONCE);
    Ok(if is_full { Outcome::More(summary) } else { Outcome::Done(summary) })
}
