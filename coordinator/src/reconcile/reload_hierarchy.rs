//! A new generation of the hierarchy is taken up.

use std::sync::Arc;
use std::time::Duration;

use hierarchy::Hierarchy;
use hierarchy::remap::RemapCounts;
use store::generations::Facts;
use store::{delegations, generations};
use tokio::sync::Notify;

use super::open_searches::open;
use super::steer::give_pinned;
use super::{Outcome, Reconciler};
use crate::atlas::Atlas;
use crate::carry_hosts::{Stranded, carry_hosts, stranded};
use crate::carry_over::carry_over;
use crate::events::Change;
use crate::pokes::Pokes;
use crate::ruling;
use crate::snapshots;
use crate::state::Coordinator;

/// Reads the generation in use when it is not the one in memory, carries the delegations over, and
/// puts the hosts into its subnets. Also notices when another coordinator changed the policy.
pub struct ReloadHierarchy;

impl Reconciler for ReloadHierarchy {
    const NAME: &'static str = "reload_hierarchy";
    const PERIOD: Duration = Duration::from_secs(10);
    const DECIDES: bool = false;

    fn bell(pokes: &Pokes) -> &Notify {
        &pokes.reload_hierarchy
    }

    async fn run(coordinator: &Coordinator) -> Result<Outcome, anyhow::Error> {
        ruling::refresh(coordinator).await?;
        let Some(live) = generations::live(&coordinator.store).await? else {
            return Ok(Outcome::Idle);
        };
        let Some(hierarchy) = wanted(coordinator, &live).await? else {
            return Ok(Outcome::Idle);
        };
        let (atlas, carried) = swap(coordinator, hierarchy).await?;
        if coordinator.decides() {
            carry_hosts(coordinator, atlas.hierarchy()).await?;
            let Stranded { pinned, free } = stranded(coordinator, &atlas).await?;
            give_pinned(coordinator, &pinned).await?;
            open(coordinator, free).await?;
        }
        coordinator.pokes.all();
        coordinator.events.tell(Change::Hierarchy);
        let subnets = atlas.hierarchy().len();
        tracing::info!(generation = %live.id, subnets, "the hierarchy is in use");
        let carried = carried.map_or_else(String::new, |census| format!("; delegations: {census}"));
        Ok(Outcome::Done(format!("took up generation {} with {subnets} subnets{carried}", live.id)))
    }
}

/// The generation in use, when it is not in memory yet or its delegations are still to be carried
/// over by us. When it is replaced while it is read there is none, and the NOTIFY of the next one
/// is on its way.
async fn wanted(
    coordinator: &Coordinator,
    live: &Facts,
) -> Result<Option<Arc<Hierarchy>>, store::StoreError> {
    let in_memory = coordinator.atlas().map(|atlas| Arc::clone(atlas.hierarchy()));
    match in_memory.filter(|hierarchy| hierarchy.generation() == live.id) {
        Some(hierarchy) => {
            let to_carry = coordinator.decides() && !coordinator.atlases.is_carried(live.id);
            Ok(to_carry.then_some(hierarchy))
        }
        None => snapshots::hierarchy(&coordinator.config.data_dir, &coordinator.store, live).await,
    }
}

async fn swap(
    coordinator: &Coordinator,
    hierarchy: Arc<Hierarchy>,
) -> Result<(Arc<Atlas>, Option<RemapCounts>), store::StoreError> {
    let writing = coordinator.atlases.writing().await;
    let mut carried = None;
    if coordinator.decides() {
        carried = Some(carry_over(coordinator, &hierarchy).await?);
        coordinator.atlases.set_carried(hierarchy.generation());
    }
    let held = delegations::held(&coordinator.store).await?;
    let atlas = Arc::new(Atlas::new(hierarchy, &held));
    coordinator.atlases.replace(Arc::clone(&atlas), &writing);
    Ok((atlas, carried))
}
