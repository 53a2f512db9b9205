//! What another coordinator did by hand is entered in the book here, too.
//!
//! Admins talk to any coordinator: overrides, approvals, revocations and passes of balance are carried out by the one they talk
//! to, in the store and in its own atlas. The one that decides must not think its searches out on a book without them. Each
//! is heard of as soon as it is committed ([`store::delegations::Ear`]), and what is entered is what the store says then: hearing
//! it twice, late, or from ourselves changes nothing.

use std::sync::Arc;

use delegation::{Holding, Reason};
use hierarchy::Range;
use store::StoreError;
use store::delegations::{Ear, standing};

use crate::events::Change;
use crate::gossip::again;
use crate::standing::redraw;
use crate::state::Coordinator;
use crate::steer::give::tell;

/// Listens until the coordinator stops.
pub async fn run(coordinator: Arc<Coordinator>) {
    again(&coordinator, || listen(&coordinator)).await;
}

async fn listen(coordinator: &Coordinator) -> StoreError {
    match hear(coordinator).await {
        Ok(never) => match never {},
        Err(error) => error,
    }
}

async fn hear(coordinator: &Coordinator) -> Result<std::convert::Infallible, StoreError> {
    let mut ear = Ear::open(&coordinator.store).await?;
    // What was said while nobody listened is found in the store.
    anything(coordinator).await?;
    loop {
        match ear.heard().await? {
            Some(subnet) => one(coordinator, &subnet).await?,
            None => anything(coordinator).await?,
        }
    }
}

/// Any delegation may have changed.
async fn anything(coordinator: &Coordinator) -> Result<(), StoreError> {
    // What a revoked agent was routed is queued again and must be let through.
    coordinator.recent.forget();
    let writing = coordinator.atlases.writing().await;
    redraw(coordinator, &writing).await?;
    drop(writing);
    coordinator.events.tell(Change::Delegations);
    if coordinator.decides() {
        coordinator.pokes.all();
    }
    Ok(())
}

/// The delegation of one subnet may have changed.
async fn one(coordinator: &Coordinator, range: &Range) -> Result<(), StoreError> {
    let writing = coordinator.atlases.writing().await;
    let Some(atlas) = coordinator.atlas() else { return Ok(()) };
    let Some(subnet) = atlas.hierarchy().find(range) else { return Ok(()) };
    let held = standing(&coordinator.store, &[*range]).await?.pop().and_then(|standing| standing.held);
    let holding = held.and_then(|held| {
        let reason = Reason::from_word(&held.reason)?;
        Some(Holding { agent: held.agent, reason })
    });
    let before = atlas.book().holding(subnet);
    if before == holding {
        return Ok(());
    }
    atlas.put(subnet, holding);
    drop(writing);
    // Whoever did it may not have known who had it.
    let concerned = [before, holding].into_iter().flatten().map(|holding| holding.agent);
    coordinator.wakes.ring_here(concerned);
    coordinator.events.tell(Change::Delegations);
    if coordinator.decides() {
        coordinator.pokes.drive_searches.notify_one();
        tell(coordinator);
    }
    Ok(())
}
