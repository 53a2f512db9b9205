//! Two agents that are approved and heartbeat, and what they usually do.

use coordinator::placement::agent_administration::AgentAction;

use crate::agent::{FakeAgent, page};
use crate::world::Running;

pub(crate) const NORTH: &str = "http://198.51.100.1/";

pub(crate) async fn two_agents(running: &Running) -> (FakeAgent, FakeAgent) {
    running.until_hierarchy_is_loaded().await;
    let mut one = FakeAgent::enrol(running, 1).await;
    let mut two = FakeAgent::enrol(running, 2).await;
    for agent in [&mut one, &mut two] {
        running.order(agent.id, AgentAction::Approve).await;
        agent.heartbeat(running, 0).await;
    }
    (one, two)
}

/// Seeds [`NORTH`]; the first agent is too slow for it, the second near enough and gets it.
pub(crate) async fn crawl_north(running: &Running, one: &mut FakeAgent, two: &mut FakeAgent) {
    running.add_seeds(&[NORTH]).await;
    let order = one.orders(running).await.remove(0);
    one.measured(running, &order, 80_000).await;
    let order = two.orders(running).await.remove(0);
    two.measured(running, &order, 12_345).await;
    assert_eq!(two.routes(running).await[0].url, NORTH);
}

/// One page of [`NORTH`] arrives and is ingested: indexed first, then counted.
pub(crate) async fn ship_north(running: &Running, two: &FakeAgent, title: &str, text: &str) {
    two.ship_well(running, 1, two.package(1, &[page(NORTH, title, text)])).await;
    let store = &running.coordinator.store;
    crate::world::until("the page is ingested", || async {
        store::packages::pending(store, &store::packages::InTurn::default(), crate::agent::now(), 1)
            .await
            .unwrap()
            .is_empty()
    })
    .await;
    assert_eq!(running.coordinator.packages.index.len(), 1);
}
