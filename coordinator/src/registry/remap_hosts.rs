//! Hosts are carried over to the subnets of a new generation, and follow who has them.
//!
//! A registry that records more, or less, than before cuts the addresses otherwise, so that the
//! smallest subnet around a host may be another one. The host goes to the agent of that one like
//! any host that moves: its agent lets go of it first. Where nobody has that subnet yet, the host
//! stays with its agent until a search has decided.

use std::collections::BTreeSet;

use delegation::constraints::Pin;
use hierarchy::{Hierarchy, Range};
use model::{AgentId, HostId, PinId};
use store::StoreError;
use store::hosts::{self, Orphan, Placed};

use crate::placement::constraints::constraints;
use crate::runtime::delegated_hierarchy::DelegatedHierarchy;
use crate::runtime::state::Coordinator;

/// Hosts in one transaction.
const BATCH: u32 = 2_000;

/// Puts every host with an address into its smallest subnet. Doing it again changes nothing, so
/// that it is repeated after whatever interrupted it.
pub async fn carry_hosts(coordinator: &Coordinator, new: &Hierarchy) -> Result<usize, StoreError> {
    let mut after = HostId::new(0);
    let mut carried = 0;
    let mut telling: BTreeSet<AgentId> = BTreeSet::new();
    loop {
        // Nobody delegates a subnet between the look at its delegation and the move of its hosts.
        let _writing = coordinator.current_hierarchy.writing().await;
        let found = hosts::placed(&coordinator.store, after, BATCH).await?;
        let Some(last) = found.last() else { break };
        after = last.id;
        let places: Vec<_> = found.iter().filter_map(|host| another(new, host)).collect();
        if !places.is_empty() {
            carried += places.len();
            telling.extend(hosts::carry(&coordinator.store, &places, coordinator.now()).await?);
        }
    }
    coordinator.agent_wakeups.wake(telling);
    if carried > 0 {
        tracing::info!(generation = %new.generation(), carried, "hosts were put into other subnets");
    }
    Ok(carried)
}

/// The subnet that a host belongs into, where it is in another one.
fn another(new: &Hierarchy, host: &Placed) -> Option<(HostId, Range)> {
    let subnet = new.subnet(new.smallest(host.address)).range();
    (host.subnet != Some(subnet)).then_some((host.id, subnet))
}

/// Subnets that nobody has, though an agent has hosts there.
#[derive(Debug, Default)]
pub struct Stranded {
    /// Those that belong to an agent by a pin.
    pub pinned: Vec<(Range, PinId, AgentId)>,
    /// One host each of the others.
    pub free: Vec<Orphan>,
}

/// What was cut out of what agents have and is to be delegated anew.
pub async fn stranded(
    coordinator: &Coordinator,
    delegated: &DelegatedHierarchy,
) -> Result<Stranded, StoreError> {
    let (constraints, hierarchy) = (constraints(coordinator).await?, delegated.hierarchy());
    let mut stranded = Stranded::default();
    for orphan in hosts::stranded(&coordinator.store).await? {
        let subnet = hierarchy.find(&orphan.subnet);
        match subnet.and_then(|subnet| constraints.pin(hierarchy, subnet)) {
            Some(Pin { id, agent, .. }) => stranded.pinned.push((orphan.subnet, *id, *agent)),
            None => stranded.free.push(orphan),
        }
    }
    Ok(stranded)
}
