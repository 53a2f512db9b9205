//! A new generation of the hierarchy is taken up.

use std::sync::Arc;

use hierarchy::Hierarchy;
use hierarchy::remap::RemapCounts;
use store::generations::Facts;
use store::{delegations, generations};

use crate::placement::apply_constraints::give_pinned;
use crate::registry::remap::carry_over;
use crate::registry::remap_hosts::{Stranded, carry_hosts, stranded};
use crate::registry::snapshots;
use crate::runtime::delegated_hierarchy::DelegatedHierarchy;
use crate::runtime::events::Event;
use crate::runtime::outcome::Outcome;
use crate::runtime::policy;
use crate::runtime::state::Coordinator;
use crate::search::open_searches::open;

/// Reads the generation in use when it is not the one in memory, carries the delegations over, and
/// puts the hosts into its subnets. Also notices when another coordinator changed the policy.
pub async fn run(coordinator: &Coordinator) -> Result<Outcome, anyhow::Error> {
    policy::refresh(coordinator).await?;
    let Some(live) = generations::live(&coordinator.store).await? else {
        return Ok(Outcome::Idle);
    };
    let Some(hierarchy) = wanted(coordinator, &live).await? else {
        return Ok(Outcome::Idle);
    };
    let (delegated, carried) = swap(coordinator, hierarchy).await?;
    if coordinator.is_leader() {
        carry_hosts(coordinator, delegated.hierarchy()).await?;
        let Stranded { pinned, free } = stranded(coordinator, &delegated).await?;
        give_pinned(coordinator, &pinned).await?;
        open(coordinator, free).await?;
    }
    coordinator.events.emit(Event::HierarchyLoaded);
    let subnets = delegated.hierarchy().len();
    tracing::info!(generation = %live.id, subnets, "the hierarchy is in use");
    let carried = carried.map_or_else(String::new, |census| format!("; delegations: {census}"));
    Ok(Outcome::Done(format!("took up generation {} with {subnets} subnets{carried}", live.id)))
}

/// The generation in use, when it is not in memory yet or its delegations are still to be carried
/// over by us. When it is replaced while it is read there is none, and the NOTIFY of the next one
/// is on its way.
async fn wanted(
    coordinator: &Coordinator,
    live: &Facts,
) -> Result<Option<Arc<Hierarchy>>, store::StoreError> {
    let in_memory = coordinator.delegated().map(|delegated| Arc::clone(delegated.hierarchy()));
    match in_memory.filter(|hierarchy| hierarchy.generation() == live.id) {
        Some(hierarchy) => {
            let to_carry =
                coordinator.is_leader() && !coordinator.current_hierarchy.is_carried(live.id);
            Ok(to_carry.then_some(hierarchy))
        }
        None => snapshots::hierarchy(&coordinator.config.data_dir, &coordinator.store, live).await,
    }
}

async fn swap(
    coordinator: &Coordinator,
    hierarchy: Arc<Hierarchy>,
) -> Result<(Arc<DelegatedHierarchy>, Option<RemapCounts>), store::StoreError> {
    let writing = coordinator.current_hierarchy.writing().await;
    let mut carried = None;
    if coordinator.is_leader() {
        carried = Some(carry_over(coordinator, &hierarchy).await?);
        coordinator.current_hierarchy.set_carried(hierarchy.generation());
    }
    let held = delegations::held(&coordinator.store).await?;
    let delegated = Arc::new(DelegatedHierarchy::new(hierarchy, &held));
    coordinator.current_hierarchy.replace(Arc::clone(&delegated), &writing);
    Ok((delegated, carried))
}
