//! Background task: puts a new generation of the hierarchy in use.

use std::sync::Arc;

use hierarchy::Hierarchy;
use hierarchy::remap::RemapCounts;
use store::generations::Facts;
use store::{StoreError, delegations, generations};

use crate::registry::remap::remap;
use crate::registry::remap_hosts::remap_hosts;
use crate::registry::unregistered_space::{complete, is_outdated};
use crate::registry::{RegistryData, snapshots};
use crate::runtime::delegated_hierarchy::DelegatedHierarchy;
use crate::runtime::events::Event;
use crate::runtime::outcome::Outcome;

/// Reads the live generation if another one is in memory. The leader also remaps delegations,
/// searches, constraints and hosts to its subnets.
pub async fn run(registry: &RegistryData) -> Result<Outcome, anyhow::Error> {
    let Some(live) = generations::live(&registry.store).await? else {
        return Ok(Outcome::Idle);
    };
    let Some(hierarchy) = wanted(registry, &live).await? else {
        return Ok(Outcome::Idle);
    };
    let remaps = registry.hierarchy.remaps();
    let (hierarchy, unregistered) = complete(&registry.store, hierarchy).await?;
    let (delegated, counts) = swap(registry, hierarchy).await?;
    registry.hierarchy.set_unregistered(unregistered);
    if counts.is_some() {
        remap_hosts(registry).await?;
        // Only now: after a failure so far, the next run starts over, as it does where an audit
        // asked for another remap meanwhile.
        if registry.hierarchy.remaps() == remaps {
            registry.hierarchy.set_remapped(live.id);
        }
    }
    registry.events.emit(Event::HierarchyLoaded);
    let subnets = delegated.hierarchy().len();
    tracing::info!(generation = %live.id, subnets, "the hierarchy is in use");
    let counts = counts.map_or_else(String::new, |counts| format!("; delegations: {counts}"));
    Ok(Outcome::Done(format!("loaded generation {} with {subnets} subnets{counts}", live.id)))
}

/// The live generation, if it is not in memory yet or lacks virtual subnets that another
/// coordinator added, or if this coordinator has to remap delegations to it. `None` as well if it
/// was replaced while it was read: a notification of the next one follows.
async fn wanted(
    registry: &RegistryData,
    live: &Facts,
) -> Result<Option<Arc<Hierarchy>>, StoreError> {
    let in_memory = registry.hierarchy.current().map(|delegated| Arc::clone(delegated.hierarchy()));
    match in_memory.filter(|hierarchy| hierarchy.generation() == live.id) {
        Some(hierarchy) => {
            let is_missing =
                registry.leader.is_leader() && !registry.hierarchy.is_remapped(live.id);
            let is_outdated = is_outdated(&registry.store, &registry.hierarchy).await?;
            Ok((is_missing || is_outdated).then_some(hierarchy))
        }
        None => snapshots::hierarchy(&registry.config.data_dir, &registry.store, live).await,
    }
}

/// Replaces the hierarchy and the delegation table together, with the delegations remapped if this
/// coordinator is the leader.
async fn swap(
    registry: &RegistryData,
    hierarchy: Arc<Hierarchy>,
) -> Result<(Arc<DelegatedHierarchy>, Option<RemapCounts>), anyhow::Error> {
    let writing = registry.hierarchy.writing().await;
    let mut counts = None;
    if registry.leader.is_leader() {
        counts = Some(remap(registry, &hierarchy).await?);
    }
    let held = delegations::list_active(&registry.store).await?;
    let delegated = Arc::new(DelegatedHierarchy::new(hierarchy, &held));
    registry.hierarchy.replace(Arc::clone(&delegated), &writing);
    Ok((delegated, counts))
}
