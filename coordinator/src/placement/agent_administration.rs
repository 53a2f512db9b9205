//! Agent administration: an admin approves, pauses, resumes or revokes an agent.

use std::net::IpAddr;

use delegation::{Constraints, Home};
use hierarchy::Range;
use model::AgentId;
use store::StoreError;
use store::agents::{self, Departure, Order, OrderOutcome};
use store::delegations;

use crate::placement::Placement;
use crate::runtime::constraints::current_constraints;
use crate::runtime::delegated_hierarchy::DelegatedHierarchy;
use crate::runtime::events::Event;

/// A change of an agent's state that an admin requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentAction {
    /// Lets a pending agent work, and delegates its home subnet to it.
    Approve,
    /// Stops an agent; its delegations stay.
    Pause,
    /// Lets a paused agent work again.
    Resume,
    /// Ends an agent for good; its subnets go to others.
    Revoke,
}

/// Executes the action. `actor` is the admin's name for the audit log. `None` when there is no such
/// agent.
pub async fn administer(
    placement: &Placement,
    agent: AgentId,
    action: AgentAction,
    actor: &str,
) -> Result<Option<OrderOutcome>, StoreError> {
    let writing = placement.hierarchy.writing().await;
    let order = match action {
        AgentAction::Approve => Order::Approve { home: home_at_approval(placement, agent).await? },
        AgentAction::Pause => Order::Pause,
        AgentAction::Resume => Order::Resume,
        AgentAction::Revoke => Order::Revoke,
    };
    let ordered =
        agents::order(&placement.store, agent, order, actor, placement.clock.now()).await?;
    if ordered == Some(OrderOutcome::Done) {
        if action == AgentAction::Revoke {
            // Its routes are withdrawn. The filter of recent URLs would drop the same URLs when
            // they are routed to another agent.
            placement.recent_urls.forget();
        }
        match order {
            Order::Approve { home: Some(home) } => enter_stored(placement, &[home]).await?,
            Order::Revoke => placement.hierarchy.remove_agent(agent),
            Order::Approve { home: None } | Order::Pause | Order::Resume => {}
        }
        drop(writing);
        placement.agent_wakeups.wake([agent]);
        placement.events.emit(Event::AgentAdministered);
    }
    Ok(ordered)
}

/// Lets an agent leave, at its owner's request: its work is freed with the first call, and with
/// `done` it is deregistered. `None` when there is no such agent.
pub async fn leave(
    placement: &Placement,
    agent: AgentId,
    done: bool,
) -> Result<Option<Departure>, StoreError> {
    let writing = placement.hierarchy.writing().await;
    let departure = agents::leave(&placement.store, agent, done, placement.clock.now()).await?;
    if departure.is_some_and(|departure| departure.is_changed) {
        placement.recent_urls.forget();
        placement.hierarchy.remove_agent(agent);
        drop(writing);
        placement.agent_wakeups.wake([agent]);
        placement.events.emit(Event::AgentAdministered);
    }
    Ok(departure)
}

/// Enters what the store has of these subnets in the delegation table.
pub(super) async fn enter_stored(
    placement: &Placement,
    subnets: &[Range],
) -> Result<(), StoreError> {
    let Some(delegated) = placement.hierarchy.current() else { return Ok(()) };
    for state in delegations::subnet_states(&placement.store, subnets).await? {
        delegated.follow(&state);
    }
    Ok(())
}

async fn home_at_approval(
    placement: &Placement,
    agent: AgentId,
) -> Result<Option<Range>, StoreError> {
    let Some(delegated) = placement.hierarchy.current() else { return Ok(None) };
    let Some(address) = agents::home(&placement.store, agent).await? else { return Ok(None) };
    let constraints = current_constraints(&placement.store, placement.clock.now()).await?;
    Ok(home_subnet(&delegated, &constraints, agent, address))
}

/// The subnet that an agent at `address` is given without a search (IPMicra III.D): its own probes
/// would measure almost nothing there. `None` when the registries do not know the address, another
/// agent has the subnet as its home or by an override, or admins decided about it.
pub fn home_subnet(
    delegated: &DelegatedHierarchy,
    constraints: &Constraints,
    agent: AgentId,
    address: IpAddr,
) -> Option<Range> {
    let hierarchy = delegated.hierarchy();
    match delegation::home(hierarchy, &delegated.delegation_table(), agent, address) {
        Home::Assign(subnet) => {
            // A pin assigns the subnet itself, also when it is to this agent.
            let is_constrained = constraints.pin(hierarchy, subnet).is_some()
                || constraints.forbids(hierarchy, subnet, agent);
            (!is_constrained).then(|| hierarchy.subnet(subnet).range())
        }
        Home::Shared { .. } | Home::Overridden { .. } | Home::Unregistered => None,
    }
}
