//! Moves hosts to the subnets of a new generation.
//!
//! A registry that records more, or less, than before divides the addresses differently, so that
//! the smallest subnet around a host may change. The host goes to the agent of its new subnet by a
//! handover: its present agent releases it first. While the new subnet has no agent, the host stays
//! with its present agent until a search has decided.

use std::collections::BTreeSet;

use hierarchy::{Hierarchy, Range};
use model::{AgentId, HostId};
use store::StoreError;
use store::hosts::{self, HostAddress};

use crate::registry::RegistryData;

/// Hosts in one transaction.
const BATCH: u32 = 2_000;

/// Assigns every host with an address to its smallest subnet. Repeating it changes nothing, so it
/// starts over after an interruption.
pub async fn remap_hosts(registry: &RegistryData, new: &Hierarchy) -> Result<usize, StoreError> {
    let mut after = HostId::new(0);
    let mut count = 0;
    let mut agents: BTreeSet<AgentId> = BTreeSet::new();
    loop {
        // No subnet may be delegated between reading its delegation and moving its hosts.
        let _writing = registry.hierarchy.writing().await;
        let found = hosts::with_address(&registry.store, after, BATCH).await?;
        let Some(last) = found.last() else { break };
        after = last.id;
        let moves: Vec<_> = found.iter().filter_map(|host| new_subnet(new, host)).collect();
        if !moves.is_empty() {
            count += moves.len();
            agents.extend(hosts::remap(&registry.store, &moves, registry.clock.now()).await?);
        }
    }
    // Agents that have to release hosts learn it now.
    registry.agent_wakeups.wake(agents);
    if count > 0 {
        tracing::info!(generation = %new.generation(), count, "hosts were moved to other subnets");
    }
    Ok(count)
}

/// The host with its smallest subnet, if that is another one than before.
fn new_subnet(new: &Hierarchy, host: &HostAddress) -> Option<(HostId, Range)> {
    let subnet = new.subnet(new.smallest(host.address)).range();
    (host.subnet != Some(subnet)).then_some((host.id, subnet))
}
