//! Enters the delegations that other coordinators made in the delegation table of this one.
//!
//! Admins talk to any coordinator. The one that receives an override, an approval, a revocation or
//! a pass of balance carries it out, in the store and in its own table. The leader must know these
//! before it drives the next search, and the others show what the leader decides. Each change is
//! announced when it is committed ([`store::delegations::DelegationListener`]). The table is set to
//! what the store has then, so that late and repeated announcements, and those of this coordinator
//! itself, change nothing.

use std::convert::Infallible;
use std::sync::Arc;

use hierarchy::Range;
use store::StoreError;
use store::delegations::{DelegationChange, DelegationListener, subnet_states};

use crate::runtime::events::Event;
use crate::runtime::lost_database::repeat;
use crate::tasks::coordinator::Coordinator;

/// Listens until the coordinator stops.
pub async fn run(coordinator: Arc<Coordinator>) {
    repeat(&coordinator.store, &coordinator.stop, || async {
        match listen(&coordinator).await {
            Ok(never) => match never {},
            Err(error) => error,
        }
    })
    .await;
}

async fn listen(coordinator: &Coordinator) -> Result<Infallible, StoreError> {
    let mut listener = DelegationListener::open(&coordinator.store).await?;
    // Announcements from before the connection are lost; the store has their content.
    reload_all(coordinator).await?;
    loop {
        match listener.receive().await? {
            DelegationChange::Changed(subnet) => reload(coordinator, &[subnet]).await?,
            DelegationChange::Decided(subnets) => {
                reload(coordinator, &unknown(coordinator, subnets)).await?;
            }
            DelegationChange::Anything => reload_all(coordinator).await?,
        }
    }
}

/// Reads all delegations again.
async fn reload_all(coordinator: &Coordinator) -> Result<(), StoreError> {
    // The routes of a revoked agent are queued again, and their URLs must be routed again.
    coordinator.intake.recent_urls.forget();
    let writing = coordinator.hierarchy.writing().await;
    coordinator.hierarchy.reload_delegations(&coordinator.store, &writing).await?;
    drop(writing);
    coordinator.events.emit(Event::DelegationsSynchronized);
    if coordinator.is_leader() {
        coordinator.events.emit(Event::AnythingChanged);
    }
    Ok(())
}

/// Those of the decided subnets that have to be read. The leader has already entered its own
/// decisions; only the last decisions of the previous leader may be missing.
fn unknown(coordinator: &Coordinator, decided: Vec<Range>) -> Vec<Range> {
    let Some(delegated) = coordinator.delegated().filter(|_| coordinator.is_leader()) else {
        return decided;
    };
    decided.into_iter().filter(|subnet| delegated.agent_of(subnet).is_none()).collect()
}

/// Reads the delegations of these subnets again.
async fn reload(coordinator: &Coordinator, ranges: &[Range]) -> Result<(), StoreError> {
    if ranges.is_empty() {
        return Ok(());
    }
    let writing = coordinator.hierarchy.writing().await;
    let Some(delegated) = coordinator.delegated() else { return Ok(()) };
    let mut agents = Vec::new();
    for state in subnet_states(&coordinator.store, ranges).await? {
        agents.extend(delegated.follow(&state));
    }
    drop(writing);
    if agents.is_empty() {
        return Ok(());
    }
    // The other coordinator notifies the new agent; it may not know the former one.
    coordinator.agent_wakeups.wake_local(agents);
    coordinator.events.emit(Event::DelegationsSynchronized);
    if coordinator.is_leader() {
        coordinator.events.emit(Event::SearchReady);
        coordinator.events.emit(Event::DelegationsChanged);
    }
    Ok(())
}
