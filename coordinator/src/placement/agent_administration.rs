//! What admins do to agents: approve, pause, resume, revoke.

use std::sync::Arc;

use delegation::Home;
use hierarchy::Range;
use model::AgentId;
use store::StoreError;
use store::agents::{self, Order, Ordered};
use tokio::sync::MutexGuard;

use crate::placement::constraints::{constraints, may_settle};
use crate::runtime::delegated_hierarchy::DelegatedHierarchy;
use crate::runtime::events::Event;
use crate::runtime::state::Coordinator;

/// What an admin wants of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wish {
    /// Let it work; its home subnet becomes its own.
    Approve,
    /// Let it rest; it keeps its delegations.
    Pause,
    /// Let it work again.
    Resume,
    /// Shut it out for good; its work goes to others.
    Revoke,
}

/// Carries the wish out and tells everybody whom it concerns. `actor` goes into the audit. `None`
/// when there is no such agent.
pub async fn order(
    coordinator: &Coordinator,
    agent: AgentId,
    wish: Wish,
    actor: &str,
) -> Result<Option<Ordered>, StoreError> {
    let writing = coordinator.current_hierarchy.writing().await;
    let order = match wish {
        Wish::Approve => Order::Approve { home: home(coordinator, agent).await? },
        Wish::Pause => Order::Pause,
        Wish::Resume => Order::Resume,
        Wish::Revoke => Order::Revoke,
    };
    let ordered = agents::order(&coordinator.store, agent, order, actor, coordinator.now()).await?;
    if ordered == Some(Ordered::Done) {
        if wish == Wish::Revoke {
            // What it was routed is queued again and must be let through.
            coordinator.recent.forget();
        }
        rebuild_delegation_table(coordinator, &writing).await?;
        drop(writing);
        spread(coordinator, agent);
    }
    Ok(ordered)
}

/// The subnet that an agent would get, by the delegated hierarchy in use.
async fn home(coordinator: &Coordinator, agent: AgentId) -> Result<Option<Range>, StoreError> {
    let Some(delegated) = coordinator.delegated() else { return Ok(None) };
    let Some(address) = agents::home(&coordinator.store, agent).await? else { return Ok(None) };
    let constraints = constraints(coordinator).await?;
    Ok(home_of(&delegated, agent, address)
        .filter(|home| may_settle(&delegated, &constraints, agent, home)))
}

/// The subnet that an agent at `address` should be given as its home; none when there is none or
/// somebody lives there.
pub fn home_of(
    delegated: &DelegatedHierarchy,
    agent: AgentId,
    address: std::net::IpAddr,
) -> Option<Range> {
    match delegation::home(delegated.hierarchy(), &delegated.delegation_table(), agent, address) {
        Home::Assign(subnet) => Some(delegated.hierarchy().subnet(subnet).range()),
        Home::Shared { .. } | Home::Overridden { .. } | Home::Unregistered => None,
    }
}

/// Reads the delegations anew into the delegated hierarchy, after a change of many at once.
pub async fn rebuild_delegation_table(
    coordinator: &Coordinator,
    writing: &MutexGuard<'_, ()>,
) -> Result<(), StoreError> {
    if let Some(delegated) = coordinator.delegated() {
        let held = store::delegations::held(&coordinator.store).await?;
        let redrawn = DelegatedHierarchy::new(Arc::clone(delegated.hierarchy()), &held);
        coordinator.current_hierarchy.replace(Arc::new(redrawn), writing);
    }
    Ok(())
}

fn spread(coordinator: &Coordinator, agent: AgentId) {
    coordinator.agent_wakeups.wake([agent]);
    coordinator.events.emit(Event::AgentAdministered);
}
