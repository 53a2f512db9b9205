//! Background task: finds the subnet of each host, and the agent of that subnet.

use store::{StoreError, delegations, hosts};

use crate::intake::Intake;
use crate::runtime::events::Event;
use crate::runtime::outcome::Outcome;
use crate::runtime::quantity::quantity;

/// Hosts in one batch.
const BATCH: u32 = 2_000;

/// Finds the smallest subnet of each host ("we first find the smallest subnet from the IP hierarchy
/// that includes the IP of the new URL", IPMicra III.E) and gives the host to the agent to which
/// that subnet is delegated. Does nothing before a hierarchy is loaded.
pub async fn run(intake: &Intake) -> Result<Outcome, anyhow::Error> {
    if intake.hierarchy.current().is_none() {
        return Ok(Outcome::Idle);
    }
    let placed = place(intake).await?;
    let assigned = delegations::give_waiting_hosts(&intake.store).await?;
    if placed > 0 {
        intake.events.emit(Event::HostsPlaced);
    }
    if assigned > 0 {
        intake.events.emit(Event::HostsAssigned);
    }
    if placed == 0 && assigned == 0 {
        return Ok(Outcome::Idle);
    }
    let done = format!("placed {}, {assigned} with an agent", quantity(placed, "host"));
    Ok(if placed == BATCH as usize { Outcome::More(done) } else { Outcome::Done(done) })
}

/// Assigns one batch of hosts without a subnet to their smallest subnets.
async fn place(intake: &Intake) -> Result<usize, StoreError> {
    let waiting = hosts::without_subnet(&intake.store, BATCH).await?;
    // The lock keeps the generation in use until the rows are written. The next generation then
    // finds these hosts when it remaps.
    let _writing = intake.hierarchy.writing().await;
    let Some(delegated) = intake.hierarchy.current().filter(|_| !waiting.is_empty()) else {
        return Ok(0);
    };
    let hierarchy = delegated.hierarchy();
    let subnet = |address| hierarchy.subnet(hierarchy.smallest(address)).range();
    let placed: Vec<_> = waiting.into_iter().map(|(id, address)| (id, subnet(address))).collect();
    hosts::set_subnets(&intake.store, &placed).await?;
    Ok(placed.len())
}
