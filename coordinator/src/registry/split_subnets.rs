//! Subnets that are not in one place are cut.

use store::{cuts, generations};

use crate::registry::refresh::{self, is_cut_due};
use crate::runtime::outcome::Outcome;
use crate::runtime::state::Coordinator;

/// Has a generation made with the parts that searches found since the last one. The parts are then
/// subnets like any other: hosts in them are searched for at the place where they are.
pub async fn run(coordinator: &Coordinator) -> Result<Outcome, anyhow::Error> {
    let Some(live) = generations::live(&coordinator.store).await? else {
        return Ok(Outcome::Idle);
    };
    let found_at = cuts::newest(&coordinator.store).await?;
    let (hours, now) = (coordinator.config.registries.cut_hours, coordinator.now());
    if !is_cut_due(found_at, (live.live_at, coordinator.cut.get()), hours, now) {
        return Ok(Outcome::Idle);
    }
    let outcome = match refresh::cut(&coordinator.config, &coordinator.stop).await {
        Ok(()) => {
            coordinator.cut.set(now);
            "cut subnets that are not in one place".to_owned()
        }
        Err(error) => {
            tracing::warn!(%error, "cannot cut subnets that are not in one place");
            format!("{error}; tries again in an hour")
        }
    };
    Ok(Outcome::Done(outcome))
}
