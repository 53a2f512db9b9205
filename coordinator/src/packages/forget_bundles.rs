//! Background task: deletes host bundles that no agent took.

use model::DAY_MS;
use store::host_bundles;

use crate::packages::Packages;
use crate::runtime::outcome::Outcome;
use crate::runtime::quantity::quantity;

/// Time for which a bundle waits, in milliseconds: its host may wait for an agent that long. What
/// it says is of little use after that.
const KEPT_MS: i64 = 30 * DAY_MS;
/// Bundles that one run deletes.
const STEP: usize = 100;

/// Deletes a step of old bundles.
pub async fn run(packages: &Packages) -> Result<Outcome, anyhow::Error> {
    let before = packages.clock.now().plus_ms(-KEPT_MS);
    let objects = host_bundles::forget(&packages.store, before, STEP).await?;
    packages.blobs.delete_all(&objects).await;
    let done = format!("deleted {} that nobody took", quantity(objects.len(), "host bundle"));
    Ok(match objects.len() {
        0 => Outcome::Idle,
        STEP => Outcome::More(done),
        _ => Outcome::Done(done),
    })
}
