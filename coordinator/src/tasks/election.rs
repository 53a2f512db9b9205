//! Leader election: one coordinator of several decides, the one that holds a lock in Postgres.

use std::sync::Arc;
use std::time::Duration;

use hierarchy::Generation;
use store::{Leadership, Store, StoreError};
use tokio_util::task::AbortOnDropHandle;

use crate::runtime::events::Event;
use crate::runtime::failure::chain;
use crate::runtime::uptime;
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
    coordinator.leader.end();
    if let Some(leadership) = leadership {
        leadership.resign().await;
    }
}

async fn renew(
    coordinator: &Arc<Coordinator>,
    leadership: Option<Leadership>,
) -> Option<Leadership> {
    if let Some(mut leadership) = leadership {
        if is_held(&coordinator.store, &mut leadership).await {
            return Some(leadership);
        }
        coordinator.leader.end();
        // Only a leader keeps it up to date.
        coordinator.predictor.state.reset();
    }
    elect(coordinator)
        .await
        .inspect_err(|error| {
            tracing::warn!(error = chain(error.as_ref()), "cannot take part in the election");
        })
        .ok()
        .flatten()
}

/// Whether the leadership is still held; a lost one is logged.
async fn is_held(store: &Store, leadership: &mut Leadership) -> bool {
    let Err(error) = leadership.check(store).await else { return true };
    note_silence(store, &error);
    tracing::warn!(error = chain(&error), "lost the connection that carries the leadership");
    false
}

/// The election asks the database server every few seconds at every coordinator, so that it notices
/// first where the server is gone without a word.
fn note_silence(store: &Store, error: &StoreError) {
    if matches!(error, StoreError::Silent { .. }) {
        store.note_silence();
    }
}

/// Becomes the leader, if there is none.
async fn elect(coordinator: &Arc<Coordinator>) -> Result<Option<Leadership>, anyhow::Error> {
    let elected = Leadership::elect(&coordinator.store).await;
    let elected = elected.inspect_err(|error| note_silence(&coordinator.store, error))?;
    let Some(mut leadership) = elected else { return Ok(None) };
    if !prepare_while_held(coordinator, &mut leadership).await? {
        return Ok(None);
    }
    coordinator.predictor.state.reset();
    // As long as another one led, agents may have lost URLs that this one has routed.
    coordinator.intake.recent_urls.forget();
    coordinator.leader.begin(coordinator.now());
    tracing::info!(term = leadership.term(), "this coordinator is the leader");
    coordinator.events.emit(Event::AnythingChanged);
    Ok(Some(leadership))
}

/// Prepares this coordinator to lead, and keeps the leadership alive meanwhile: with millions of
/// delegations that takes longer than a connection may be silent. Returns whether it is still held.
async fn prepare_while_held(
    coordinator: &Arc<Coordinator>,
    leadership: &mut Leadership,
) -> Result<bool, anyhow::Error> {
    // A task of its own: the delegation table is built in one go, which would hold up the checks.
    let mut preparing = AbortOnDropHandle::new(tokio::spawn(prepare(Arc::clone(coordinator))));
    loop {
        tokio::select! {
            prepared = &mut preparing => {
                prepared??;
                return Ok(true);
            }
            () = tokio::time::sleep(PERIOD) => {
                if !is_held(&coordinator.store, leadership).await {
                    return Ok(false);
                }
            }
        }
    }
}

async fn prepare(coordinator: Arc<Coordinator>) -> Result<(), anyhow::Error> {
    // What the previous leader decided last must be in the table before the first search is driven.
    let writing = coordinator.hierarchy.writing().await;
    coordinator.hierarchy.reload_delegations(&coordinator.store, &writing).await?;
    // The previous leader may have stopped before it remapped the delegations to the generation
    // in use; remapping twice changes nothing.
    coordinator.hierarchy.set_remapped(Generation::new(0));
    drop(writing);
    // Before the first search is driven: it must know of the time in which nobody led.
    uptime::record(&coordinator.store, coordinator.now()).await
}
