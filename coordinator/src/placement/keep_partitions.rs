//! Background task: makes the partitions of the next days and forgets loads, errors and activity of
//! days that are over.

use store::{activity, fetches, loads, partitions};

use crate::placement::Placement;
use crate::runtime::outcome::Outcome;
use crate::runtime::quantity::quantity;

/// Makes and drops partitions, and deletes the sums of agents that are not needed any more.
pub async fn run(placement: &Placement) -> Result<Outcome, anyhow::Error> {
    let now = placement.clock.now();
    let changed = partitions::keep(&placement.store, now).await?;
    let loads = loads::forget(&placement.store, now).await?;
    let errors = fetches::forget(&placement.store, now).await?;
    let forgotten = loads + errors + activity::forget(&placement.store, now).await?;
    if changed + forgotten == 0 {
        return Ok(Outcome::Idle);
    }
    Ok(Outcome::Done(format!(
        "made or dropped {}, deleted {forgotten} sums",
        quantity(changed, "partition"),
    )))
}
