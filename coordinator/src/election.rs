//! Is this coordinator the one that decides?

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use hierarchy::Generation;
use store::{Decider, Listener, StoreError, generations};

use crate::failure::chain;
use crate::standing::redraw;
use crate::state::Coordinator;

/// Between two looks at the right to decide.
const PERIOD: Duration = Duration::from_secs(2);

/// Stands for election until the coordinator stops; gives the right up at the end.
pub async fn stand(coordinator: Arc<Coordinator>) {
    let mut decider: Option<Decider> = None;
    loop {
        decider = renew(&coordinator, decider).await;
        tokio::select! {
            () = coordinator.stop.cancelled() => break,
            () = tokio::time::sleep(PERIOD) => {}
        }
    }
    coordinator.decider.store(false, Ordering::Release);
    if let Some(decider) = decider {
        decider.resign().await;
    }
}

async fn renew(coordinator: &Coordinator, decider: Option<Decider>) -> Option<Decider> {
    if let Some(mut decider) = decider {
        if decider.holds().await {
            return Some(decider);
        }
        coordinator.decider.store(false, Ordering::Release);
        tracing::warn!("lost the connection that carries the right to decide");
    }
    let elected = elect(coordinator).await;
    elected
        .inspect_err(|error| tracing::warn!(error = chain(error), "cannot stand for election"))
        .ok()
        .flatten()
}

/// Takes office, if nobody is in it. What another decided meanwhile is read first, so that no
/// search is thought out on an old map; a new generation of the hierarchy may wait to be carried
/// over.
async fn elect(coordinator: &Coordinator) -> Result<Option<Decider>, StoreError> {
    let Some(decider) = Decider::elect(&coordinator.store).await? else { return Ok(None) };
    let writing = coordinator.atlases.writing().await;
    redraw(coordinator, &writing).await?;
    coordinator.atlases.set_carried(Generation::new(0));
    drop(writing);
    coordinator.insight.spending.forget();
    coordinator.decider.store(true, Ordering::Release);
    tracing::info!(term = decider.term(), "this coordinator decides");
    coordinator.pokes.all();
    Ok(Some(decider))
}

/// Takes a new generation of the hierarchy up as soon as the loader says that there is one.
pub async fn listen(coordinator: Arc<Coordinator>) {
    while !coordinator.stop.is_cancelled() {
        let heard = tokio::select! {
            () = coordinator.stop.cancelled() => return,
            heard = hear(&coordinator) => heard,
        };
        if let Err(error) = heard {
            tracing::warn!(
                error = chain(&error),
                "cannot hear of new generations of the hierarchy"
            );
        }
        tokio::select! {
            () = coordinator.stop.cancelled() => return,
            () = tokio::time::sleep(PERIOD) => {}
        }
    }
}

async fn hear(coordinator: &Coordinator) -> Result<(), StoreError> {
    let mut listener = Listener::open(&coordinator.store, generations::CHANNEL).await?;
    loop {
        listener.heard().await?;
        coordinator.pokes.reload_hierarchy.notify_one();
    }
}
