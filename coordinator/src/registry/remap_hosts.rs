//! Moves hosts to the subnets of a new generation.
//!
//! A registry that records more, or less, than before divides the addresses differently, so that
//! the subnet of a host may change. The host goes to the agent of its new subnet by a handover: its
//! present agent releases it first. While the new subnet has no agent, the host stays with its
//! present agent until a search has decided.

use std::collections::BTreeSet;

use hierarchy::{Hierarchy, HostSubnet, Range};
use model::{AgentId, HostId};
use store::hosts::{self, HostAddress};

use crate::registry::RegistryData;

/// Hosts in one transaction.
const BATCH: u32 = 2_000;

/// Assigns every host with an address to its subnet in the hierarchy in use. Repeating it changes
/// nothing, so it starts over after an interruption.
pub async fn remap_hosts(registry: &RegistryData) -> Result<usize, anyhow::Error> {
    let mut changes = Changes::default();
    changes.apply_to_all(registry).await?;
    if !changes.unregistered.is_empty() {
        let ranges: Vec<Range> = changes.unregistered.iter().copied().collect();
        // These hosts are not looked at again in this generation, so the addition does not wait.
        registry.unregistered_space.add_at_once(&ranges).await?;
        // Another coordinator may have added what was not added here. Hosts for which there is no
        // room stay as they are: those without an agent are given up when they are placed.
        changes.apply_to_all(registry).await?;
    }
    // Agents that have to release hosts learn it now.
    registry.agent_wakeups.wake(changes.releasing);
    let count = changes.count;
    if count > 0 {
        tracing::info!(count, "hosts were moved to other subnets");
    }
    Ok(count)
}

#[derive(Default)]
struct Changes {
    count: usize,
    /// Agents that have to release hosts.
    releasing: BTreeSet<AgentId>,
    /// Ranges of hosts in space that no registry records, which are to become virtual subnets.
    unregistered: BTreeSet<Range>,
}

impl Changes {
    /// Moves the hosts whose subnets are known, a batch in a transaction.
    async fn apply_to_all(&mut self, registry: &RegistryData) -> Result<(), anyhow::Error> {
        let mut after = HostId::new(0);
        loop {
            // No subnet may be delegated between reading its delegation and moving its hosts.
            let _writing = registry.hierarchy.writing().await;
            let Some(delegated) = registry.hierarchy.current() else { return Ok(()) };
            let found = hosts::with_address(&registry.store, after, BATCH).await?;
            let Some(last) = found.last() else { return Ok(()) };
            after = last.id;
            self.apply(registry, delegated.hierarchy(), &found).await?;
        }
    }

    async fn apply(
        &mut self,
        registry: &RegistryData,
        hierarchy: &Hierarchy,
        found: &[HostAddress],
    ) -> Result<(), anyhow::Error> {
        let mut moves: Vec<(HostId, Range)> = Vec::new();
        for host in found {
            match registry.unregistered_space.host_subnet(hierarchy, host.address) {
                HostSubnet::Known(subnet) => {
                    let subnet = hierarchy.subnet(subnet).range();
                    if host.subnet != Some(subnet) {
                        moves.push((host.id, subnet));
                    }
                }
                HostSubnet::Unregistered(range) => {
                    self.unregistered.insert(range);
                }
                // What was delegated there before stays until an admin decides.
                HostSubnet::SpecialPurpose(_) => {}
            }
        }
        if !moves.is_empty() {
            self.count += moves.len();
            let now = registry.clock.now();
            self.releasing.extend(hosts::remap(&registry.store, &moves, now).await?);
        }
        Ok(())
    }
}
