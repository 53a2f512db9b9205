//! Agents get the subnets they live in.

use hierarchy::Range;
use model::{AgentId, Reason};
use store::{agents, delegations};

use crate::placement::Placement;
use crate::placement::agent_administration::home_of;
use crate::placement::constraints::may_settle;
use crate::runtime::constraints::current_constraints;
use crate::runtime::delegated_hierarchy::DelegatedHierarchy;
use crate::runtime::events::Event;
use crate::runtime::outcome::Outcome;
use crate::runtime::quantity::quantity;

/// Approval delegates an agent's home subnet to it. Where that could not be (no hierarchy was
/// loaded) or is not so any more (a new generation cuts the addresses differently), this does it.
pub async fn run(placement: &Placement) -> Result<Outcome, anyhow::Error> {
    let Some(delegated) = placement.hierarchy.current() else { return Ok(Outcome::Idle) };
    let constraints = current_constraints(&placement.store, placement.clock.now()).await?;
    let workers = agents::workers(&placement.store).await?;
    let unsettled: Vec<(AgentId, Range)> = workers
        .iter()
        .filter_map(|worker| Some((worker.agent, home_of(&delegated, worker.agent, worker.home)?)))
        .filter(|(agent, home)| !lives_there(&delegated, *agent, home))
        .filter(|(agent, home)| may_settle(&delegated, &constraints, *agent, home))
        .collect();
    if unsettled.is_empty() {
        return Ok(Outcome::Idle);
    }
    let writing = placement.hierarchy.writing().await;
    let mut settled = 0;
    for (agent, home) in &unsettled {
        let now = placement.clock.now();
        settled += u32::from(delegations::settle_home(&placement.store, *agent, home, now).await?);
    }
    placement.hierarchy.reload_delegations(&placement.store, &writing).await?;
    placement.events.emit(Event::HomesDelegated);
    Ok(Outcome::Done(format!("settled {} at home", quantity(settled, "agent"))))
}

fn lives_there(delegated: &DelegatedHierarchy, agent: AgentId, home: &Range) -> bool {
    let holding = delegated
        .hierarchy()
        .find(home)
        .and_then(|subnet| delegated.delegation_table().get(subnet));
    holding.is_some_and(|holding| holding.agent == agent && holding.reason == Reason::Home)
}
