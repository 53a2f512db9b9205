//! Background task: finds the subnet of each host, and the agent of that subnet.

use std::collections::BTreeSet;
use std::net::IpAddr;

use hierarchy::{HostSubnet, Range};
use model::HostId;
use store::hosts;

use crate::intake::Intake;
use crate::registry::unregistered_space::Addition;
use crate::runtime::back_off::GIVEN_UP_MS;
use crate::runtime::events::Event;
use crate::runtime::outcome::Outcome;
use crate::runtime::quantity::quantity;

/// Hosts in one batch.
const BATCH: u32 = 2_000;

/// Finds the smallest subnet of each host ("we first find the smallest subnet from the IP hierarchy
/// that includes the IP of the new URL", IPMicra III.E) and gives the host to the agent to which
/// that subnet is delegated. Blocks and roots do not count: a host in space that no registry has
/// assigned gets a virtual subnet of its own. A host at a special-purpose address is given up,
/// unless the registry data has a record of that address. Does nothing before a hierarchy is
/// loaded.
pub async fn run(intake: &Intake) -> Result<Outcome, anyhow::Error> {
    if intake.hierarchy.current().is_none() {
        return Ok(Outcome::Idle);
    }
    let (placed, assigned) = place(intake).await?;
    if placed == 0 {
        return Ok(Outcome::Idle);
    }
    intake.events.emit(Event::HostsPlaced);
    if assigned > 0 {
        intake.events.emit(Event::HostsAssigned);
    }
    let done = format!("placed {}, {assigned} with an agent", quantity(placed, "host"));
    Ok(if placed == BATCH as usize { Outcome::More(done) } else { Outcome::Done(done) })
}

/// Assigns one batch of hosts without a subnet to their subnets. Returns how many were assigned or
/// given up, and how many got an agent with their subnet.
async fn place(intake: &Intake) -> Result<(usize, u64), anyhow::Error> {
    let waiting = hosts::without_subnet(&intake.store, BATCH).await?;
    if waiting.is_empty() {
        return Ok((0, 0));
    }
    let addition = add_unregistered(intake, &waiting).await?;
    // The lock keeps the generation in use until the rows are written. The next generation then
    // finds these hosts when it remaps.
    let _writing = intake.hierarchy.writing().await;
    let Some(delegated) = intake.hierarchy.current() else { return Ok((0, 0)) };
    let hierarchy = delegated.hierarchy();
    let mut placed: Vec<(HostId, Range)> = Vec::new();
    let mut refused: Vec<(HostId, String)> = Vec::new();
    for (id, address) in waiting {
        match intake.unregistered_space.host_subnet(hierarchy, address) {
            HostSubnet::Known(subnet) => placed.push((id, hierarchy.subnet(subnet).range())),
            HostSubnet::Unregistered(_) if addition == Addition::Full => refused.push((
                id,
                format!("{address} is in no registry's record, and there is no room for it"),
            )),
            // The next run tries again.
            HostSubnet::Unregistered(_) => {}
            HostSubnet::SpecialPurpose(class) => {
                refused.push((id, format!("{address} is a special-purpose address ({class})")));
            }
        }
    }
    let assigned = hosts::set_subnets(&intake.store, &placed).await?;
    if !refused.is_empty() {
        let retry_at = intake.clock.now().plus_ms(GIVEN_UP_MS);
        hosts::give_up(&intake.store, &refused, retry_at).await?;
    }
    Ok((placed.len() + refused.len(), assigned))
}

/// Makes the virtual subnets that hosts in unregistered space need.
async fn add_unregistered(
    intake: &Intake,
    waiting: &[(HostId, IpAddr)],
) -> Result<Addition, anyhow::Error> {
    let Some(delegated) = intake.hierarchy.current() else { return Ok(Addition::Later) };
    let mut ranges: BTreeSet<Range> = BTreeSet::new();
    for (_, address) in waiting {
        let subnet = intake.unregistered_space.host_subnet(delegated.hierarchy(), *address);
        if let HostSubnet::Unregistered(range) = subnet {
            ranges.insert(range);
        }
    }
    if ranges.is_empty() {
        return Ok(Addition::Added);
    }
    let ranges: Vec<Range> = ranges.into_iter().collect();
    intake.unregistered_space.add(&ranges).await
}
