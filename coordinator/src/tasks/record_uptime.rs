//! Background task: records that a leader is there.

use model::UnixMillis;
use store::Store;

use crate::runtime::outcome::Outcome;
use crate::runtime::uptime;

/// Records that this coordinator leads.
pub(super) async fn run(store: &Store, now: UnixMillis) -> Result<Outcome, anyhow::Error> {
    uptime::record(store, now).await?;
    Ok(Outcome::Idle)
}
