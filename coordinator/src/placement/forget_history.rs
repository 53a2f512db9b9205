//! Background task: deletes what ended longer ago than the configuration keeps it.

use store::history::{self, Position};
use tokio::sync::Mutex;

use crate::placement::Placement;
use crate::runtime::outcome::Outcome;
use crate::runtime::quantity::quantity;

const DAY_MS: i64 = 86_400_000;

/// The last delegation that the task looked at, so that each is looked at once.
#[derive(Debug, Default)]
pub struct HistoryPosition(Mutex<Position>);

/// Deletes a step of old delegations, with what belongs to them, and of old handovers.
pub async fn run(placement: &Placement) -> Result<Outcome, anyhow::Error> {
    let days = placement.limits.history_days;
    if days == 0 {
        return Ok(Outcome::Idle);
    }
    let before = placement.clock.now().plus_ms(-DAY_MS * i64::from(days));
    let has_more_handovers = history::forget_handovers(&placement.store, before).await?;
    let mut position = placement.history.0.lock().await;
    let step = history::forget_delegations(&placement.store, *position, before).await?;
    *position = step.next.unwrap_or(*position);
    let done = format!("deleted {} that ended long ago", quantity(step.deleted, "delegation"));
    Ok(match (has_more_handovers || step.next.is_some(), step.deleted) {
        (true, _) => Outcome::More(done),
        (false, 0) => Outcome::Idle,
        (false, _) => Outcome::Done(done),
    })
}
