//! Hosts with an address find their subnet, and its agent if it has one.

use store::{StoreError, hosts};

use crate::intake::Intake;
use crate::runtime::events::Event;
use crate::runtime::outcome::Outcome;
use crate::runtime::quantity::quantity;

/// Hosts in one batch.
const BATCH: u32 = 2_000;

/// Finds the smallest subnet of each host ("we first find the smallest subnet from the IP hierarchy
/// that includes the IP of the new URL", IPMicra III.E) and gives the host to the subnet's agent.
/// Waits until a hierarchy is loaded.
pub async fn run(intake: &Intake) -> Result<Outcome, anyhow::Error> {
    if intake.hierarchy.current().is_none() {
        return Ok(Outcome::Idle);
    }
    let placed = place(intake).await?;
    let adopted = hosts::adopt(&intake.store).await?;
    if placed > 0 {
        intake.events.emit(Event::HostsPlaced);
    }
    if adopted > 0 {
        intake.events.emit(Event::HostsAssigned);
    }
    if placed == 0 && adopted == 0 {
        return Ok(Outcome::Idle);
    }
    let did = format!("placed {}, {adopted} with an agent", quantity(placed, "host"));
    Ok(if placed == BATCH as usize { Outcome::More(did) } else { Outcome::Done(did) })
}

/// Puts a batch of hosts that have no subnet into theirs. The generation that they are placed by is
/// not replaced meanwhile: one that is taken up later finds them.
async fn place(intake: &Intake) -> Result<usize, StoreError> {
    let waiting = hosts::waiting(&intake.store, BATCH).await?;
    let _writing = intake.hierarchy.writing().await;
    let Some(delegated) = intake.hierarchy.current().filter(|_| !waiting.is_empty()) else {
        return Ok(0);
    };
    let hierarchy = delegated.hierarchy();
    let subnet = |address| hierarchy.subnet(hierarchy.smallest(address)).range();
    let places: Vec<_> = waiting.into_iter().map(|(id, address)| (id, subnet(address))).collect();
    hosts::place(&intake.store, &places).await?;
    Ok(places.len())
}
