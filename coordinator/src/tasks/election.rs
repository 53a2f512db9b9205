//! Leader election: one coordinator of several decides, the one that holds a lock in Postgres.

use std::sync::Arc;
use std::time::Duration;

use hierarchy::Generation;
use store::{Leadership, StoreError};

use crate::runtime::events::Event;
use crate::runtime::failure::chain;
use crate::tasks::coordinator::Coordinator;

/// Time between two attempts, and between two checks that the lock is still held.
const PERIOD: Duration = Duration::from_secs(2);

/// Takes part in the election until the coordinator stops, then resigns.
pub async fn run(coordinator: Arc<Coordinator>) {
    let mut leadership: Option<Leadership> = None;
    loop {
        leadership = renew(&coordinator, leadership).await;
        tokio::select! {
            () = coordinator.stop.cancelled() => break,
            () = tokio::time::sleep(PERIOD) => {}
        }
    }
    coordinator.leader.set(false);
    if let Some(leadership) = leadership {
        leadership.resign().await;
    }
}

async fn renew(coordinator: &Coordinator, leadership: Option<Leadership>) -> Option<Leadership> {
    if let Some(mut leadership) = leadership {
        if leadership.holds().await {
            return Some(leadership);
        }
        coordinator.leader.set(false);
        // Only a leader keeps it up to date.
        coordinator.predictor.state.reset();
        tracing::warn!("lost the connection that carries the leadership");
    }
    elect(coordinator)
        .await
        .inspect_err(|error| {
            tracing::warn!(error = chain(error), "cannot take part in the election");
        })
        .ok()
        .flatten()
}

/// Becomes the leader, if there is none.
async fn elect(coordinator: &Coordinator) -> Result<Option<Leadership>, StoreError> {
    let Some(leadership) = Leadership::elect(&coordinator.store).await? else { return Ok(None) };
    // What the previous leader decided last must be in the table before the first search is driven.
    let writing = coordinator.hierarchy.writing().await;
    coordinator.hierarchy.reload_delegations(&coordinator.store, &writing).await?;
    // The previous leader may have stopped before it remapped the delegations to the generation
    // in use; remapping twice changes nothing.
    coordinator.hierarchy.set_remapped(Generation::new(0));
    drop(writing);
    coordinator.predictor.state.reset();
    coordinator.leader.set(true);
    tracing::info!(term = leadership.term(), "this coordinator is the leader");
    coordinator.events.emit(Event::AnythingChanged);
    Ok(Some(leadership))
}
