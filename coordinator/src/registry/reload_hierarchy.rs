//! Background task: puts a new generation of the hierarchy in use.

use std::cmp::Ordering;
use std::sync::Arc;

use hierarchy::Hierarchy;
use hierarchy::remap::RemapCounts;
use store::generations::Facts;
use store::{StoreError, delegations, generations, unregistered_subnets};

use crate::registry::remap::remap;
use crate::registry::remap_hosts::remap_hosts;
use crate::registry::unregistered_space::{compare, complete};
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
    forget_unused(registry, &live).await?;
    let (hierarchy, unregistered) = complete(&registry.store, hierarchy).await?;
    let (delegated, counts) = swap(registry, hierarchy).await?;
    registry.hierarchy.set_unregistered(unregistered);
    if counts.is_some() {
        remap_hosts(registry).await?;
        // Noted only now, so that the next run starts over after a failure, or if an audit has
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

/// Makes room in unregistered space when a newly loaded generation replaces the one in use: a site
/// could use it up for good with names that lead there. Only then, since the remap of what is tied
/// to these subnets needs both hierarchies. A generation that splits subnets has those of the
/// generation before it, used or not, so that their ranges stay: the next load would not find the
/// range of a host that is placed there meanwhile.
async fn forget_unused(registry: &RegistryData, live: &Facts) -> Result<(), StoreError> {
    let in_memory = registry.hierarchy.current();
    let is_new = in_memory.is_some_and(|used| used.hierarchy().generation() != live.id);
    if registry.leader.is_leader() && is_new && !live.is_split() {
        let deleted = unregistered_subnets::delete_unused(&registry.store).await?;
        tracing::info!(deleted, "unused subnets of unregistered space were deleted");
    }
    Ok(())
}

/// The live generation, if it is not in memory yet, or has other virtual subnets there than
/// another coordinator has stored, or if this coordinator has to remap delegations to it. `None` as
/// well if it was replaced while it was read: a notification of the next one follows.
async fn wanted(
    registry: &RegistryData,
    live: &Facts,
) -> Result<Option<Arc<Hierarchy>>, StoreError> {
    let in_memory = registry.hierarchy.current().map(|delegated| Arc::clone(delegated.hierarchy()));
    match in_memory.filter(|hierarchy| hierarchy.generation() == live.id) {
        Some(hierarchy) => {
            let is_missing =
                registry.leader.is_leader() && !registry.hierarchy.is_remapped(live.id);
            match compare(&registry.store, &registry.hierarchy).await? {
                Ordering::Greater => Ok(Some(hierarchy)),
                Ordering::Equal => Ok(is_missing.then_some(hierarchy)),
                // Subnets cannot be taken out of a hierarchy.
                Ordering::Less => {
                    snapshots::hierarchy(&registry.config.data_dir, &registry.store, live).await
                }
            }
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
