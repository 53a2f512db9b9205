//! Is this coordinator the one that decides?

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use hierarchy::Generation;
use store::{Leadership, Listener, StoreError, generations};

use crate::placement::agent_administration::rebuild_delegation_table;
use crate::runtime::failure::chain;
use crate::runtime::state::Coordinator;

/// Between two looks at the right to decide.
const PERIOD: Duration = Duration::from_secs(2);

/// Stands for election until the coordinator stops; gives the right up at the end.
pub async fn stand(coordinator: Arc<Coordinator>) {
    let mut leader: Option<Leadership> = None;
    loop {
        leader = renew(&coordinator, leader).await;
        tokio::select! {
            () = coordinator.stop.cancelled() => break,
            () = tokio::time::sleep(PERIOD) => {}
        }
    }
    coordinator.leader.store(false, Ordering::Release);
    if let Some(leader) = leader {
        leader.resign().await;
    }
}

async fn renew(coordinator: &Coordinator, leader: Option<Leadership>) -> Option<Leadership> {
    if let Some(mut leader) = leader {
        if leader.holds().await {
            return Some(leader);
        }
        coordinator.leader.store(false, Ordering::Release);
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
async fn elect(coordinator: &Coordinator) -> Result<Option<Leadership>, StoreError> {
    let Some(leader) = Leadership::elect(&coordinator.store).await? else { return Ok(None) };
    let writing = coordinator.current_hierarchy.writing().await;
    rebuild_delegation_table(coordinator, &writing).await?;
    coordinator.current_hierarchy.set_carried(Generation::new(0));
    drop(writing);
    coordinator.insight.spending.forget();
    coordinator.leader.store(true, Ordering::Release);
    tracing::info!(term = leader.term(), "this coordinator decides");
    coordinator.task_signals.all();
    Ok(Some(leader))
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
        coordinator.task_signals.reload_hierarchy.notify_one();
    }
}
