//! What another coordinator did is entered in the delegation table here, too.
//!
//! Admins talk to any coordinator: overrides, approvals, revocations and passes of balance are
//! carried out by the one they talk to, in the store and in its own delegated hierarchy. The one that decides
//! must not think its searches out on a delegation table without them, and what it decided is to be seen at the
//! others. Each is heard of as soon as it is committed ([`store::delegations::DelegationListener`]), and what is
//! entered is what the store says then: timing reports it twice, late, or from ourselves changes nothing.

use std::sync::Arc;

use hierarchy::Range;
use model::AgentId;
use store::StoreError;
use store::delegations::{DelegationChange, DelegationListener, Standing, standing};

use crate::runtime::delegated_hierarchy::{DelegatedHierarchy, holding_of};
use crate::runtime::events::Event;
use crate::tasks::coordinator::Coordinator;
use crate::tasks::peer_notifications::repeat;

/// Listens until the coordinator stops.
pub async fn run(coordinator: Arc<Coordinator>) {
    repeat(&coordinator.stop, || listen(&coordinator)).await;
}

async fn listen(coordinator: &Coordinator) -> StoreError {
    match hear(coordinator).await {
        Ok(never) => match never {},
        Err(error) => error,
    }
}

async fn hear(coordinator: &Coordinator) -> Result<std::convert::Infallible, StoreError> {
    let mut ear = DelegationListener::open(&coordinator.store).await?;
    // What was said while nobody listened is found in the store.
    anything(coordinator).await?;
    loop {
        match ear.heard().await? {
            DelegationChange::Changed(subnet) => these(coordinator, &[subnet]).await?,
            DelegationChange::Decided(subnets) => {
                these(coordinator, &news(coordinator, subnets)).await?;
            }
            DelegationChange::Anything => anything(coordinator).await?,
        }
    }
}

/// Any delegation may have changed.
async fn anything(coordinator: &Coordinator) -> Result<(), StoreError> {
    // What a revoked agent was routed is queued again and must be let through.
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

/// What searches decided and is not in the delegation table: all of it where somebody else decides. Who decides
/// entered it beforehand, but for what the one before it decided at last.
fn news(coordinator: &Coordinator, decided: Vec<Range>) -> Vec<Range> {
    let Some(delegated) = coordinator.delegated().filter(|_| coordinator.is_leader()) else {
        return decided;
    };
    let held = |subnet: &Range| {
        delegated
            .hierarchy()
            .find(subnet)
            .and_then(|subnet| delegated.delegation_table().agent_of(subnet))
    };
    decided.into_iter().filter(|subnet| held(subnet).is_none()).collect()
}

/// The delegations of these subnets may have changed.
async fn these(coordinator: &Coordinator, ranges: &[Range]) -> Result<(), StoreError> {
    if ranges.is_empty() {
        return Ok(());
    }
    let writing = coordinator.hierarchy.writing().await;
    let Some(delegated) = coordinator.delegated() else { return Ok(()) };
    let mut concerned = Vec::new();
    for standing in standing(&coordinator.store, ranges).await? {
        concerned.extend(enter(&delegated, &standing));
    }
    drop(writing);
    if concerned.is_empty() {
        return Ok(());
    }
    // Whoever did it may not have known who had it.
    coordinator.agent_wakeups.wake_local(concerned);
    coordinator.events.emit(Event::DelegationsSynchronized);
    if coordinator.is_leader() {
        coordinator.events.emit(Event::SearchReady);
        coordinator.events.emit(Event::DelegationsChanged);
    }
    Ok(())
}

/// Enters how it stands with a subnet. Whom it concerns, where that is new.
fn enter(delegated: &DelegatedHierarchy, standing: &Standing) -> Vec<AgentId> {
    let Some(subnet) = delegated.hierarchy().find(&standing.subnet) else { return Vec::new() };
    let holding = standing.held.as_ref().map(holding_of);
    let before = delegated.delegation_table().get(subnet);
    if before == holding {
        return Vec::new();
    }
    delegated.put(subnet, holding);
    [before, holding].into_iter().flatten().map(|holding| holding.agent).collect()
}
