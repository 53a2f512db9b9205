//! What admins do to agents: approve, pause, resume, revoke.

use delegation::Home;
use hierarchy::Range;
use model::AgentId;
use store::StoreError;
use store::agents::{self, Order, Ordered};

use crate::placement::Placement;
use crate::placement::constraints::may_settle;
use crate::runtime::constraints::current_constraints;
use crate::runtime::delegated_hierarchy::DelegatedHierarchy;
use crate::runtime::events::Event;

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
    placement: &Placement,
    agent: AgentId,
    wish: Wish,
    actor: &str,
) -> Result<Option<Ordered>, StoreError> {
    let writing = placement.hierarchy.writing().await;
    let order = match wish {
        Wish::Approve => Order::Approve { home: home(placement, agent).await? },
        Wish::Pause => Order::Pause,
        Wish::Resume => Order::Resume,
        Wish::Revoke => Order::Revoke,
    };
    let ordered =
        agents::order(&placement.store, agent, order, actor, placement.clock.now()).await?;
    if ordered == Some(Ordered::Done) {
        if wish == Wish::Revoke {
            // What it was routed is queued again and must be let through.
            placement.recent_urls.forget();
        }
        placement.hierarchy.reload_delegations(&placement.store, &writing).await?;
        drop(writing);
        spread(placement, agent);
    }
    Ok(ordered)
}

/// The subnet that an agent would get, by the delegated hierarchy in use.
async fn home(placement: &Placement, agent: AgentId) -> Result<Option<Range>, StoreError> {
    let Some(delegated) = placement.hierarchy.current() else { return Ok(None) };
    let Some(address) = agents::home(&placement.store, agent).await? else { return Ok(None) };
    let constraints = current_constraints(&placement.store, placement.clock.now()).await?;
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

fn spread(placement: &Placement, agent: AgentId) {
    placement.agent_wakeups.wake([agent]);
    placement.events.emit(Event::AgentAdministered);
}
