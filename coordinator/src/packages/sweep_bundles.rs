//! Background task: deletes host bundles in the storage that no row names. Their deletion failed
//! after an agent took them, or the coordinator ended before it entered them.

use model::DAY_MS;
use store::host_bundles;

use crate::packages::Packages;
use crate::runtime::outcome::Outcome;
use crate::runtime::quantity::quantity;

/// Age from which a bundle has had its row, in milliseconds.
const ENTERED_MS: i64 = DAY_MS;

/// Compares the storage with the rows. Reads the names of the bundles alone, not those of packages.
pub async fn run(packages: &Packages) -> Result<Outcome, anyhow::Error> {
    let before = packages.clock.now().plus_ms(-ENTERED_MS);
    let (orders, objects) = packages.blobs.bundles(before).await?;
    let unnamed = host_bundles::unnamed(&packages.store, (&orders, &objects)).await?;
    packages.blobs.delete_all(&unnamed).await;
    let done = format!("swept {} that no row names", quantity(unnamed.len(), "host bundle"));
    Ok(if unnamed.is_empty() { Outcome::Idle } else { Outcome::Done(done) })
}
