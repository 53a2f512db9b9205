//! Background task: deletes what ended longer ago than the configuration keeps it.

use delegation::target::RETRY_AFTER_MS;
use model::DAY_MS;
use store::history::{self, Position};
use tokio::sync::Mutex;

use crate::placement::Placement;
use crate::runtime::outcome::Outcome;
use crate::runtime::quantity::quantity;

/// Time for which ended probes of incidents and homes are kept, because the budget of the day
/// counts them.
const CHECKS_KEPT_MS: i64 = 2 * DAY_MS;

/// The last delegation and the last search that the task looked at, so that each is looked at once.
#[derive(Debug, Default)]
pub struct HistoryPosition {
    delegations: Mutex<Position>,
    searches: Mutex<Position>,
}

/// Deletes a step of old delegations, with what belongs to them, of searches that led to none, and
/// of old handovers. Probes of incidents and homes, and silent addresses, belong to neither.
pub async fn run(placement: &Placement) -> Result<Outcome, anyhow::Error> {
    let now = placement.clock.now();
    if history::forget_checks(&placement.store, now.plus_ms(-CHECKS_KEPT_MS)).await? {
        return Ok(Outcome::More("deleted probes of incidents and homes".to_owned()));
    }
    // From then on searches probe the address again.
    let is_forgiven = now.plus_ms(-RETRY_AFTER_MS.cast_signed());
    if history::forget_silence(&placement.store, is_forgiven).await? {
        return Ok(Outcome::More("deleted addresses that were silent long ago".to_owned()));
    }
    let days = placement.limits.history_days;
    if days == 0 {
        return Ok(Outcome::Idle);
    }
    let before = now.plus_ms(-DAY_MS * i64::from(days));
    let has_more_handovers = history::forget_handovers(&placement.store, before).await?;
    let mut position = placement.history.delegations.lock().await;
    let delegations = history::forget_delegations(&placement.store, *position, before).await?;
    *position = delegations.next.unwrap_or(*position);
    let mut position = placement.history.searches.lock().await;
    let searches = history::forget_searches(&placement.store, *position, days, now).await?;
    *position = searches.next.unwrap_or(*position);
    let done = format!(
        "deleted {} and {} that ended long ago",
        quantity(delegations.deleted, "delegation"),
        quantity(searches.deleted, "search"),
    );
    let has_more = delegations.next.is_some() || searches.next.is_some();
    Ok(match (has_more_handovers || has_more, delegations.deleted + searches.deleted) {
        (true, _) => Outcome::More(done),
        (false, 0) => Outcome::Idle,
        (false, _) => Outcome::Done(done),
    })
}
