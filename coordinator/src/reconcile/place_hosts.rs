//! Hosts with an address find their subnet, and its agent if it has one.

use std::time::Duration;

use protocol::HostId;
use store::{StoreError, hosts};
use tokio::sync::Notify;

use super::{Outcome, Reconciler};
use crate::atlas::Atlas;
use crate::pokes::Pokes;
use crate::state::Coordinator;

/// Finds the smallest subnet of each host ("we first find the smallest subnet from the IP hierarchy that
/// includes the IP of the new URL", IPMicra III.E) and gives the host to the subnet's agent. Waits until a
/// hierarchy is loaded.
pub struct PlaceHosts;

/// Hosts in one batch.
const BATCH: u32 = 2_000;

impl Reconciler for PlaceHosts {
    const NAME: &'static str = "place_hosts";
    const PERIOD: Duration = Duration::from_secs(10);

    fn bell(pokes: &Pokes) -> &Notify {
        &pokes.place_hosts
    }

    async fn run(coordinator: &Coordinator) -> Result<Outcome, anyhow::Error> {
        let Some(atlas) = coordinator.atlas() else { return Ok(Outcome::Idle) };
        let placed = place(coordinator, &atlas, true).await?;
        let adopted = hosts::adopt(&coordinator.store).await?;
        if placed > 0 {
            coordinator.pokes.open_searches.notify_one();
            coordinator.pokes.steer.notify_one();
        }
        if adopted > 0 {
            coordinator.pokes.route_urls.notify_one();
        }
        if placed == 0 && adopted == 0 {
            return Ok(Outcome::Idle);
        }
        Ok(Outcome::Done(format!("placed {placed} hosts, {adopted} have an agent")))
    }
}

/// Puts hosts that wait for an agent into their subnets: those without a subnet, or all of them when the
/// hierarchy is new.
pub(super) async fn place(
    coordinator: &Coordinator,
    atlas: &Atlas,
    only_new: bool,
) -> Result<usize, StoreError> {
    let hierarchy = atlas.hierarchy();
    let mut after = HostId::new(0);
    let mut placed = 0;
    loop {
        let waiting = hosts::waiting(&coordinator.store, after, only_new, BATCH).await?;
        let Some((last, _)) = waiting.last() else { return Ok(placed) };
        after = *last;
        let subnet = |address| hierarchy.subnet(hierarchy.smallest(address)).range();
        let homes: Vec<_> = waiting.into_iter().map(|(id, address)| (id, subnet(address))).collect();
        hosts::place(&coordinator.store, &homes).await?;
        placed += homes.len();
    }
}
