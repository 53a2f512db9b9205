//! Agents get the subnets they live in.

use hierarchy::Range;
use model::{AgentId, Reason};
use store::{agents, delegations};

use crate::placement::agent_administration::{home_of, rebuild_delegation_table};
use crate::placement::constraints::{constraints, may_settle};
use crate::runtime::delegated_hierarchy::DelegatedHierarchy;
use crate::runtime::events::Event;
use crate::runtime::outcome::Outcome;
use crate::runtime::quantity::quantity;
use crate::runtime::state::Coordinator;

/// Approval delegates an agent's home subnet to it. Where that could not be (no hierarchy was
/// loaded) or is not so any more (a new generation cuts the addresses differently), this does it.
pub async fn run(coordinator: &Coordinator) -> Result<Outcome, anyhow::Error> {
    let Some(delegated) = coordinator.delegated() else { return Ok(Outcome::Idle) };
    let constraints = constraints(coordinator).await?;
    let workers = agents::workers(&coordinator.store).await?;
    let unsettled: Vec<(AgentId, Range)> = workers
        .iter()
        .filter_map(|worker| Some((worker.agent, home_of(&delegated, worker.agent, worker.home)?)))
        .filter(|(agent, home)| !lives_there(&delegated, *agent, home))
        .filter(|(agent, home)| may_settle(&delegated, &constraints, *agent, home))
        .collect();
    if unsettled.is_empty() {
        return Ok(Outcome::Idle);
    }
    let writing = coordinator.current_hierarchy.writing().await;
    let mut settled = 0;
    for (agent, home) in &unsettled {
        let now = coordinator.now();
        settled +=
            u32::from(delegations::settle_home(&coordinator.store, *agent, home, now).await?);
    }
    rebuild_delegation_table(coordinator, &writing).await?;
    coordinator.events.emit(Event::HomesDelegated);
    Ok(Outcome::Done(format!("settled {} at home", quantity(settled, "agent"))))
}

fn lives_there(delegated: &DelegatedHierarchy, agent: AgentId, home: &Range) -> bool {
    let holding = delegated
        .hierarchy()
        .find(home)
        .and_then(|subnet| delegated.delegation_table().get(subnet));
    holding.is_some_and(|holding| holding.agent == agent && holding.reason == Reason::Home)
}
