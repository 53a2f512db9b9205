//! A new generation of the hierarchy is taken up.

use std::sync::Arc;
use std::time::Duration;

use store::{delegations, generations};
use tokio::sync::Notify;

use super::place_hosts::place;
use super::{Outcome, Reconciler};
use crate::atlas::Atlas;
use crate::events::Change;
use crate::pokes::Pokes;
use crate::ruling;
use crate::state::Coordinator;

/// Reads the generation in use when it is not the one in memory, carries the delegations over, and puts the
/// hosts that wait for an agent into its subnets. Also notices when another coordinator changed the policy.
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
        let Some(live) = generations::live(&coordinator.store).await? else { return Ok(Outcome::Idle) };
        let in_memory = coordinator.atlas().map(|atlas| atlas.hierarchy().generation());
        if in_memory == Some(live.id) {
            return Ok(Outcome::Idle);
        }
        let Some(hierarchy) = generations::read(&coordinator.store, live.id).await? else {
            // Replaced between the two statements: look again.
            return Ok(Outcome::More("the generation was replaced while it was read".to_owned()));
        };
        let atlas = swap(coordinator, Arc::new(hierarchy)).await?;
        if coordinator.decides() {
            place(coordinator, &atlas, false).await?;
        }
        coordinator.pokes.all();
        coordinator.events.tell(Change::Hierarchy);
        let subnets = atlas.hierarchy().len();
        tracing::info!(generation = %live.id, subnets, "the hierarchy is in use");
        Ok(Outcome::Done(format!("took up generation {} with {subnets} subnets", live.id)))
    }
}

async fn swap(
    coordinator: &Coordinator,
    hierarchy: Arc<hierarchy::Hierarchy>,
) -> Result<Arc<Atlas>, store::StoreError> {
    let writing = coordinator.atlases.writing().await;
    let held = delegations::held(&coordinator.store).await?;
    let atlas = Arc::new(Atlas::new(hierarchy, &held));
    coordinator.atlases.replace(Arc::clone(&atlas), &writing);
    Ok(atlas)
}
