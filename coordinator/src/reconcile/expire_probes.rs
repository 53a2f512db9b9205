//! Patience with probe orders ends.

use std::time::Duration;

use store::probes;
use tokio::sync::Notify;

use super::{Outcome, Reconciler};
use crate::counted::counted;
use crate::events::Change;
use crate::pokes::Pokes;
use crate::state::Coordinator;

/// Takes orders back from agents that fell asleep or were paused: they are asked again another
/// time. Ends orders that were not answered in time, so that their searches go on without.
pub struct ExpireProbes;

impl Reconciler for ExpireProbes {
    const NAME: &'static str = "expire_probes";
    const PERIOD: Duration = Duration::from_secs(1);

    fn bell(pokes: &Pokes) -> &Notify {
        &pokes.expire_probes
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
        coordinator.pokes.drive_searches.notify_one();
        coordinator.events.tell(Change::Delegations);
        Ok(Outcome::Done(format!("took {} back, gave {expired} up", counted(withdrawn, "order"))))
    }
}
