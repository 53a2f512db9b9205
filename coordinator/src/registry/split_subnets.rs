//! Background task: splits subnets that are in several places into virtual subnets.

use store::{generations, subnet_splits};

use crate::registry::RegistryData;
use crate::registry::refresh::{self, MadeAt, is_split_due};
use crate::runtime::outcome::Outcome;

/// Has the loader make a generation with the splits that were proposed since the last one. Virtual
/// subnets are then searched for and delegated like any other subnet.
pub async fn run(registry: &RegistryData) -> Result<Outcome, anyhow::Error> {
    let Some(live) = generations::live(&registry.store).await? else {
        return Ok(Outcome::Idle);
    };
    let proposed_at = subnet_splits::newest(&registry.store).await?;
    let last_split = registry.last_split.get();
    let hours = registry.config.registries.split_hours;
    let now = registry.clock.now();
    let made_at = MadeAt { started: live.started_at, live: live.live_at };
    if !is_split_due(proposed_at, made_at, last_split, hours, now) {
        return Ok(Outcome::Idle);
    }
    let outcome = match refresh::split(&registry.config, &registry.stop).await {
        Ok(()) => {
            registry.last_split.set(now);
            "split subnets that are in several places".to_owned()
        }
        Err(error) => {
            tracing::warn!(%error, "cannot split subnets that are in several places");
            format!("{error}; tries again in an hour")
        }
    };
    Ok(Outcome::Done(outcome))
}
