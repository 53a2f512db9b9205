//! What another coordinator did is entered in the book here, too.
//!
//! Admins talk to any coordinator: overrides, approvals, revocations and passes of balance are
//! carried out by the one they talk to, in the store and in its own atlas. The one that decides
//! must not think its searches out on a book without them, and what it decided is to be seen at the
//! others. Each is heard of as soon as it is committed ([`store::delegations::Ear`]), and what is
//! entered is what the store says then: hearing it twice, late, or from ourselves changes nothing.

use std::sync::Arc;

use hierarchy::Range;
use protocol::AgentId;
use store::StoreError;
use store::delegations::{Ear, Heard, Standing, standing};

use crate::atlas::{Atlas, holding_of};
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
            Heard::Changed(subnet) => these(coordinator, &[subnet]).await?,
            Heard::Decided(subnets) => these(coordinator, &news(coordinator, subnets)).await?,
            Heard::Anything => anything(coordinator).await?,
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

/// What searches decided and is not in the book: all of it where somebody else decides. Who decides
/// entered it beforehand, but for what the one before it decided at last.
fn news(coordinator: &Coordinator, decided: Vec<Range>) -> Vec<Range> {
    let Some(atlas) = coordinator.atlas().filter(|_| coordinator.decides()) else { return decided };
    let held = |subnet: &Range| {
        atlas.hierarchy().find(subnet).and_then(|subnet| atlas.book().agent_of(subnet))
    };
    decided.into_iter().filter(|subnet| held(subnet).is_none()).collect()
}

/// The delegations of these subnets may have changed.
async fn these(coordinator: &Coordinator, ranges: &[Range]) -> Result<(), StoreError> {
    if ranges.is_empty() {
        return Ok(());
    }
    let writing = coordinator.atlases.writing().await;
    let Some(atlas) = coordinator.atlas() else { return Ok(()) };
    let mut concerned = Vec::new();
    for standing in standing(&coordinator.store, ranges).await? {
        concerned.extend(enter(&atlas, &standing));
    }
    drop(writing);
    if concerned.is_empty() {
        return Ok(());
    }
    // Whoever did it may not have known who had it.
    coordinator.wakes.ring_here(concerned);
    coordinator.events.tell(Change::Delegations);
    if coordinator.decides() {
        coordinator.pokes.drive_searches.notify_one();
        tell(coordinator);
    }
    Ok(())
}

/// Enters how it stands with a subnet. Whom it concerns, where that is new.
fn enter(atlas: &Atlas, standing: &Standing) -> Vec<AgentId> {
    let Some(subnet) = atlas.hierarchy().find(&standing.subnet) else { return Vec::new() };
    let holding = standing.held.as_ref().and_then(holding_of);
    let before = atlas.book().holding(subnet);
    if before == holding {
        return Vec::new();
    }
    atlas.put(subnet, holding);
    [before, holding].into_iter().flatten().map(|holding| holding.agent).collect()
}
