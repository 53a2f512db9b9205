//! Requests of admins to begin and to end a drain.

use model::{AgentId, UnixMillis};
use store::StoreError;
use store::drains::{self, StartOutcome};

use crate::placement::Placement;
use crate::runtime::events::Event;

/// Begins the drain of an agent, or changes its deadline. `None` when there is no such agent.
pub async fn start(
    placement: &Placement,
    agent: AgentId,
    deadline_at: Option<UnixMillis>,
    by: &str,
) -> Result<Option<StartOutcome>, StoreError> {
    let now = placement.clock.now();
    let started = drains::start(&placement.store, agent, deadline_at, by, now).await?;
    if started == Some(StartOutcome::Started) {
        placement.events.emit(Event::AgentAdministered);
    }
    Ok(started)
}

/// Ends the drain of an agent: it may get subnets again. It gets its home subnet back, and what is
/// pinned to it; everything else that has moved stays where it is.
/// Returns whether there was a drain.
pub async fn cancel(placement: &Placement, agent: AgentId, by: &str) -> Result<bool, StoreError> {
    let ended = drains::cancel(&placement.store, agent, by, placement.clock.now()).await?;
    if ended {
        placement.events.emit(Event::AgentAdministered);
    }
    Ok(ended)
}
