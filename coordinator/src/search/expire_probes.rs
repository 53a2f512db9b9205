//! Patience with probe orders ends.

use std::time::Duration;

use store::probes;
use tokio::sync::Notify;

use crate::runtime::counted::counted;
use crate::runtime::events::Change;
use crate::runtime::state::Coordinator;
use crate::runtime::task_signals::TaskSignals;
use crate::tasks::{BackgroundTask, Outcome};

/// Takes orders back from agents that fell asleep or were paused: they are asked again another
/// time. Ends orders that were not answered in time, so that their searches go on without.
pub struct ExpireProbes;

impl BackgroundTask for ExpireProbes {
    const NAME: &'static str = "expire_probes";
    const PERIOD: Duration = Duration::from_secs(1);

    fn bell(task_signals: &TaskSignals) -> &Notify {
        &task_signals.expire_probes
    }

    async fn run(coordinator: &Coordinator) -> Result<Outcome, anyhow::Error> {
        let limits = &coordinator.config.limits;
        let now = coordinator.now();
        let asked_before = now.plus_ms(-1_000 * i64::from(limits.probe_deadline_s));
        let withdrawn = probes::withdraw(&coordinator.store, now).await?;
        let expired =
            probes::expire(&coordinator.store, asked_before, coordinator.heard_since(), now)
                .await?;
        if withdrawn + expired == 0 {
            return Ok(Outcome::Idle);
        }
        coordinator.task_signals.drive_searches.notify_one();
        coordinator.events.tell(Change::Delegations);
        Ok(Outcome::Done(format!("took {} back, gave {expired} up", counted(withdrawn, "order"))))
    }
}
