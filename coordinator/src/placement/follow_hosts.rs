//! Background task: follows hosts that moved to another network.
//!
//! A host is looked up when it is new. Later, agents look its name up before they fetch, so they
//! notice a move first: packages count the connections that lead out of the host's subnet. Name
//! servers may answer an agent differently, though, and an agent may lie. So the coordinator's own
//! lookup decides, as it did for the new host.

use std::net::IpAddr;
use std::time::Duration;

use futures_util::{StreamExt as _, stream};
use hierarchy::{Hierarchy, HostSubnet, Range};
use model::HostId;
use store::hosts;
use store::stray_hosts::{self, StrayHost};

use crate::intake::Intake;
use crate::intake::dns::LookupError;
use crate::intake::resolve_hosts::name;
use crate::placement::Placement;
use crate::runtime::events::Event;
use crate::runtime::outcome::Outcome;
use crate::runtime::quantity::quantity;

/// Hosts in one run.
const BATCH: u32 = 64;
/// Lookups at the same time.
const AT_ONCE: usize = 8;
/// Time for one lookup.
const PATIENCE: Duration = Duration::from_secs(5);
/// A host is not looked up again for a week, whether it moved or not: name servers give many hosts
/// another address everywhere, or addresses in several networks in turn.
const PAUSE_MS: i64 = 7 * 24 * 3_600_000;

type Moved = Vec<(HostId, IpAddr, Range)>;

/// A host with its address; none where the DNS has none.
type Lookup = (StrayHost, Result<Option<IpAddr>, LookupError>);

/// Looks up hosts again whose agents find them elsewhere, and moves those that have another subnet
/// now. Each goes to the agent of its new subnet, as after a new generation of the hierarchy.
pub async fn run(intake: &Intake, placement: &Placement) -> Result<Outcome, anyhow::Error> {
    let strays = stray_hosts::due(&placement.store, BATCH).await?;
    if strays.is_empty() {
        return Ok(Outcome::Idle);
    }
    let lookups = stream::iter(strays).map(|host| look_up(intake, host));
    let lookups = lookups.buffer_unordered(AT_ONCE).collect::<Vec<_>>();
    let Some(found) = intake.stop.run_until_cancelled(lookups).await else {
        return Ok(Outcome::Idle);
    };
    // No subnet may be delegated between reading its delegation and moving its hosts.
    let _writing = placement.hierarchy.writing().await;
    let Some(delegated) = placement.hierarchy.current() else { return Ok(Outcome::Idle) };
    let moved = moved(intake, delegated.hierarchy(), &found);
    let now = placement.clock.now();
    let releasing = hosts::follow(&placement.store, &moved, now).await?;
    placement.agent_wakeups.wake(releasing);
    let free = moved.iter().map(|(_, _, subnet)| *subnet);
    placement.host_walk.add(free.filter(|subnet| delegated.agent_of(subnet).is_none())).await;
    if !moved.is_empty() {
        placement.events.emit(Event::HostsAssigned);
    }
    let (answered, unanswered): (Vec<&Lookup>, _) = found.iter().partition(|(_, it)| it.is_ok());
    stray_hosts::pause(&placement.store, &ids(&answered), now.plus_ms(PAUSE_MS)).await?;
    // A name server that is away for a moment must not hide for a week that hosts moved.
    stray_hosts::try_again(&placement.store, &ids(&unanswered), now).await?;
    let looked_up = quantity(answered.len(), "host");
    let done = format!("looked {looked_up} up again and moved {}", moved.len());
    let is_full = found.len() == BATCH as usize;
    Ok(if is_full && !answered.is_empty() { Outcome::More(done) } else { Outcome::Done(done) })
}

fn ids(lookups: &[&Lookup]) -> Vec<HostId> {
    lookups.iter().map(|(host, _)| host.id).collect()
}

async fn look_up(intake: &Intake, host: StrayHost) -> Lookup {
    let address = match name(&host.authority) {
        Some(name) => match intake.dns.address(&name, PATIENCE).await {
            Err(LookupError::NoAddress(_)) => Ok(None),
            address => address.map(Some),
        },
        None => Ok(None),
    };
    (host, address)
}

/// Hosts with their new subnets. Without an answer a host stays, and in space that no registry
/// records, which may have its record in the next generation.
fn moved(intake: &Intake, hierarchy: &Hierarchy, found: &[Lookup]) -> Moved {
    let moved = found.iter().filter_map(|(host, address)| {
        let address = (*address.as_ref().ok()?)?;
        match intake.unregistered_space.host_subnet(hierarchy, address) {
            HostSubnet::Known(subnet) => {
                let range = hierarchy.subnet(subnet).range();
                (range != host.subnet).then_some((host.id, address, range))
            }
            HostSubnet::Unregistered(_) | HostSubnet::SpecialPurpose(_) => None,
        }
    });
    moved.collect()
}
