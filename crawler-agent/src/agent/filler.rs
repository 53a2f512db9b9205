//! Filler: brings hosts into the schedule when they are due, while the agent may work.

use std::sync::Arc;

use super::{
    AgentError,
    readiness::{Readiness, ReadinessSignal},
};
use crate::{clock, schedule::FillRules, visit::Visitor};

/// Task that keeps the schedule filled.
pub(super) struct Filler {
    /// Knows the frontier, the schedule and the delays.
    pub(super) visitor: Arc<Visitor>,
    pub(super) readiness: ReadinessSignal,
}

impl Filler {
    pub(super) async fn run(self) -> Result<(), AgentError> {
        let mut readiness = self.readiness.subscribe();
        let may_start = |readiness: &Readiness| readiness.idle_reason().is_none();
        // The first answer of the coordinator brings the policy, and with it the delay between
        // requests, so that no host may come in before it.
        let Ok(_) = readiness.wait_for(may_start).await else { return Ok(()) };
        let Visitor { schedule, store, .. } = self.visitor.as_ref();
        schedule.fill(store, rules(&self.visitor)).await?;
        loop {
            // While the agent rests, its hosts stay where they are.
            let Ok(_) = readiness.wait_for(may_start).await else { return Ok(()) };
            tokio::select! {
                () = schedule.until_wanted() => schedule.fill(store, rules(&self.visitor)).await?,
                changed = readiness.changed() => if changed.is_err() { return Ok(()) },
            }
        }
    }
}

/// The delay and the period of revisits that count now.
pub(super) fn rules(visitor: &Visitor) -> FillRules {
    let revisit_period = visitor.revisit_period();
    FillRules { now: clock::now(), delay: visitor.delay(), revisit_period }
}
