//! Background task: delegates home subnets that approval could not delegate.

use hierarchy::Range;
use model::{AgentId, Reason};
use store::{StoreError, agents, delegations};

use crate::placement::Placement;
use crate::placement::agent_administration::{enter_stored, home_subnet};
use crate::placement::constraints::assign::moved_from;
use crate::placement::moved_agents::follow_moves;
use crate::runtime::constraints::current_constraints;
use crate::runtime::delegated_hierarchy::DelegatedHierarchy;
use crate::runtime::events::Event;
use crate::runtime::outcome::Outcome;
use crate::runtime::quantity::quantity;

/// Approval delegates an agent's home subnet to it. This does it where no hierarchy was loaded
/// then, where a new generation has other subnets around the agent's address, and where its
/// machine moved to another address.
pub async fn run(placement: &Placement) -> Result<Outcome, anyhow::Error> {
    let Some(delegated) = placement.hierarchy.current() else { return Ok(Outcome::Idle) };
    let moved = follow_moves(placement, &delegated).await?;
    let constraints = current_constraints(&placement.store, placement.clock.now()).await?;
    let workers = agents::workers(&placement.store).await?;
    let missing: Vec<(AgentId, Range)> = workers
        .iter()
        .filter_map(|worker| {
            let home = home_subnet(&delegated, &constraints, worker.agent, worker.home)?;
            (!holds_as_home(&delegated, worker.agent, &home)).then_some((worker.agent, home))
        })
        .collect();
    let settled = if missing.is_empty() { 0 } else { settle(placement, &missing).await? };
    Ok(match (moved, settled) {
        (0, 0) => Outcome::Idle,
        (0, _) => Outcome::Done(format!("delegated {}", quantity(settled, "home subnet"))),
        _ => Outcome::Done(format!("found {} in another network", quantity(moved, "agent"))),
    })
}

/// Delegates these home subnets; returns how many changed.
async fn settle(placement: &Placement, missing: &[(AgentId, Range)]) -> Result<usize, StoreError> {
    let writing = placement.hierarchy.writing().await;
    let mut settled = Vec::new();
    for (agent, home) in missing {
        let now = placement.clock.now();
        let moved_from = moved_from(placement, home, *agent);
        if delegations::settle_home(&placement.store, *agent, home, moved_from, now).await? {
            settled.push(*home);
        }
    }
    enter_stored(placement, &settled).await?;
    drop(writing);
    if !settled.is_empty() {
        placement.events.emit(Event::HomesDelegated);
    }
    Ok(settled.len())
}

fn holds_as_home(delegated: &DelegatedHierarchy, agent: AgentId, home: &Range) -> bool {
    let table = delegated.delegation_table();
    let holding = delegated.hierarchy().find(home).and_then(|subnet| table.get(subnet));
    holding.is_some_and(|holding| match holding.reason {
        // It returns when the agent works again.
        Reason::Takeover => true,
        reason => holding.agent == agent && reason == Reason::Home,
    })
}
