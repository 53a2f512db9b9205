//! Registry data does not grow old.

use std::time::Duration;

use store::generations;
use tokio::sync::Notify;

use crate::registry::refresh::{self, Refresh};
use crate::runtime::state::Coordinator;
use crate::runtime::task_signals::TaskSignals;
use crate::tasks::{BackgroundTask, Outcome};

/// Has the registries' files fetched and loaded anew when they are old enough, or when an admin
/// wants it. The first load is the operator's: who has loaded nothing may not want all of it.
pub struct RefreshRegistries;

impl BackgroundTask for RefreshRegistries {
    const NAME: &'static str = "refresh_registries";
    const PERIOD: Duration = Duration::from_mins(10);

    fn bell(task_signals: &TaskSignals) -> &Notify {
        &task_signals.refresh_registries
    }

    async fn run(coordinator: &Coordinator) -> Result<Outcome, anyhow::Error> {
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
}
