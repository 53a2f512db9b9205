//! Background task: finds agents for subnets that a new generation separated from delegated ones.
//!
//! Their hosts keep their present agent meanwhile, so that `open_searches`, which looks for hosts
//! without an agent, does not see them.

use hierarchy::Range;
use model::{AgentId, PinId};
use store::hosts::{self, WaitingHost};

use crate::placement::Placement;
use crate::placement::apply_constraints::assign_pinned;
use crate::runtime::constraints::current_constraints;
use crate::runtime::outcome::Outcome;
use crate::runtime::quantity::quantity;
use crate::search::open_searches::open;

/// Assigns each subnet without a delegation, in which an agent has hosts, to the agent that is
/// pinned there, or opens a search for it.
pub async fn run(placement: &Placement) -> Result<Outcome, anyhow::Error> {
    let Some(delegated) = placement.hierarchy.current() else { return Ok(Outcome::Idle) };
    let hierarchy = delegated.hierarchy();
    let constraints = current_constraints(&placement.store, placement.clock.now()).await?;
    let mut pinned: Vec<(Range, PinId, AgentId)> = Vec::new();
    let mut searched: Vec<WaitingHost> = Vec::new();
    for host in hosts::undelegated(&placement.store).await? {
        let Some(subnet) = hierarchy.find_delegable(&host.subnet) else { continue };
        match constraints.pin(hierarchy, subnet) {
            Some(pin) => pinned.push((host.subnet, pin.id, pin.agent)),
            None => searched.push(host),
        }
    }
    let assigned = assign_pinned(placement, &pinned).await?;
    let opened = open(&placement.search, searched).await?;
    if assigned + opened == 0 {
        return Ok(Outcome::Idle);
    }
    Ok(Outcome::Done(format!("pinned {assigned}, opened {}", quantity(opened, "search"))))
}
