//! Background task: refreshes the registries' data.

use store::generations;

use crate::registry::RegistryData;
use crate::registry::refresh::{self, Refresh};
use crate::runtime::outcome::Outcome;

/// Runs the loader when the data is old enough or an admin asked for new data. The first load is
/// left to the operator, who may want only some registries; the others are not fetched later.
pub async fn run(registry: &RegistryData) -> Result<Outcome, anyhow::Error> {
    let Some(live) = generations::live(&registry.store).await? else {
        return Ok(Outcome::Idle);
    };
    let now = registry.clock.now();
    let state = Refresh {
        loaded_at: live.read_at,
        asked_at: refresh::asked_at(&registry.store).await?,
        tried_at: registry.last_refresh.get(),
    };
    if !state.is_due(registry.config.registries.refresh_days, now) {
        return Ok(Outcome::Idle);
    }
    let outcome = match refresh::refresh(&registry.config, &live.sources, &registry.stop).await {
        Ok(()) => "fetched and loaded the registries' data".to_owned(),
        Err(error) => {
            tracing::warn!(%error, "cannot refresh the registries' data");
            format!("{error}; tries again in {} hours", refresh::PAUSE_H)
        }
    };
    // Noted only now, so that a run that ends with the leader's term does not delay the next one.
    registry.last_refresh.set(now);
    Ok(Outcome::Done(outcome))
}
