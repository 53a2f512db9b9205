//! Background task: makes the partitions of the next days and forgets loads, errors and activity of
//! days that are over.

use model::UnixMillis;
use store::partitions::Kept;
use store::{Store, StoreError, activity, fetches, loads, partitions};

use crate::placement::Placement;
use crate::runtime::outcome::Outcome;
use crate::runtime::quantity::quantity;

/// Makes and drops partitions, and deletes the sums of agents that are not needed any more.
pub async fn run(placement: &Placement) -> Result<Outcome, anyhow::Error> {
    let now = placement.clock.now();
    let kept = partitions::keep(&placement.store, now).await;
    // Also where a partition is missing: these rows are in other tables.
    let forgotten = forget_sums(&placement.store, now).await?;
    Ok(outcome(kept?, forgotten))
}

async fn forget_sums(store: &Store, now: UnixMillis) -> Result<u64, StoreError> {
    let loads = loads::forget(store, now).await?;
    let errors = fetches::forget(store, now).await?;
    Ok(loads + errors + activity::forget(store, now).await?)
}

fn outcome(Kept { changed, locked }: Kept, forgotten: u64) -> Outcome {
    if changed + locked + forgotten == 0 {
        return Outcome::Idle;
    }
    let done =
        format!("made or dropped {}, deleted {forgotten} sums", quantity(changed, "partition"));
    if locked == 0 {
        return Outcome::Done(done);
    }
    let left = quantity(locked, "partition");
    Outcome::Done(format!(
        "{done}, left {left} for the next run: another transaction, such as that of a dump, locks \
         the table"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partitions_that_wait_for_a_lock_are_named() {
        assert_eq!(outcome(Kept::default(), 0), Outcome::Idle);
        let Outcome::Done(done) = outcome(Kept { changed: 0, locked: 2 }, 0) else {
            panic!("not done");
        };
        assert!(done.contains("left 2 partitions for the next run"), "{done}");
    }
}
