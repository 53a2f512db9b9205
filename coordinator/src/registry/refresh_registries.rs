//! Registry data does not grow old.

use store::generations;

use crate::registry::refresh::{self, Refresh};
use crate::runtime::outcome::Outcome;
use crate::runtime::state::Coordinator;

/// Has the registries' files fetched and loaded anew when they are old enough, or when an admin
/// wants it. The first load is the operator's: who has loaded nothing may not want all of it.
pub async fn run(coordinator: &Coordinator) -> Result<Outcome, anyhow::Error> {
    let Some(live) = generations::live(&coordinator.store).await? else {
        return Ok(Outcome::Idle);
    };
    let state = Refresh {
        loaded_at: live.read_at,
        asked_at: refresh::asked_at(&coordinator.store).await?,
        tried_at: coordinator.refreshed.get(),
    };
    if !state.is_due(coordinator.config.registries.refresh_days, coordinator.now()) {
        return Ok(Outcome::Idle);
    }
    coordinator.refreshed.set(coordinator.now());
    let outcome = match refresh::refresh(&coordinator.config, &coordinator.stop).await {
        Ok(()) => "fetched and loaded the registries' data".to_owned(),
        Err(error) => {
            tracing::warn!(%error, "cannot refresh the registries' data");
            format!("{error}; tries again in {} hours", refresh::PAUSE_H)
        }
    };
    Ok(Outcome::Done(outcome))
}
