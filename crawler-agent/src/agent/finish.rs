//! Finishing: the agent starts nothing new, ends what is in flight, ships what it has, and ends.

use std::{sync::Arc, time::Duration};

use tokio_util::sync::CancellationToken;

use super::{
    AgentError,
    readiness::{Phase, ReadinessSignal},
};
use crate::{frontier::FrontierHandle, outbox::PackTrigger, schedule::Schedule};

/// Longest time for it: what the coordinator has not taken by then stays on disk.
const LONGEST: Duration = Duration::from_mins(5);
/// Period in which it is checked whether something is left.
const PERIOD: Duration = Duration::from_millis(100);

/// What finishing waits for.
pub(super) struct FinishProgress {
    pub(super) schedule: Arc<Schedule>,
    pub(super) store: FrontierHandle,
    pub(super) readiness: ReadinessSignal,
    pub(super) pack_trigger: Arc<PackTrigger>,
}

impl FinishProgress {
    /// Waits for `finish`, and then until nothing is left to do.
    pub(super) async fn run(self, finish: CancellationToken) -> Result<(), AgentError> {
        finish.cancelled().await;
        // The owner's command takes precedence over the owner's hours.
        self.readiness.change(|readiness| {
            readiness.phase = Phase::Finishing;
            readiness.asleep = None;
        });
        if let Ok(done) = tokio::time::timeout(LONGEST, self.until_done()).await {
            return done;
        }
        tracing::info!("some packages stay on disk until the next start");
        Ok(())
    }

    async fn until_done(&self) -> Result<(), AgentError> {
        let mut tick = tokio::time::interval(PERIOD);
        loop {
            tick.tick().await;
            // Checked in this order, because a request that ends leaves a result.
            let is_busy = self.schedule.is_busy();
            let counts = self.store.counts()?;
            if !is_busy && counts.results == 0 && counts.packages == 0 {
                return Ok(());
            }
            if !is_busy && counts.results > 0 {
                // Their package may be due only in hours.
                self.pack_trigger.pack_now();
            }
        }
    }
}
