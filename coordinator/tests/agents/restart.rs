//! Coordinators come and go; what was begun goes on.

use coordinator::placement::agent_administration::AgentAction;

use crate::agent::{FakeAgent, link, page};
use crate::world::{Ground, counts, search, until};

const NORTH: &str = "http://198.51.100.1/";

#[tokio::test]
async fn a_search_goes_on_where_it_was() {
    let ground = Ground::new().await;
    let first = ground.start().await;
    first.until_hierarchy_is_loaded().await;
    let mut one = FakeAgent::enrol(&first, 1).await;
    let mut two = FakeAgent::enrol(&first, 2).await;
    for agent in [&mut one, &mut two] {
        first.order(agent.id, AgentAction::Approve).await;
        agent.heartbeat(&first, 0).await;
    }
    first.add_seeds(&[NORTH]).await;
    let order = one.orders(&first).await.remove(0);
    first.abort().await;

    let second = ground.start().await;
    // The session is good at the next coordinator too, and the order is handed out again.
    assert_eq!(one.orders(&second).await, std::slice::from_ref(&order));
    one.measured(&second, &order, 70_000).await;
    let next = two.orders(&second).await.remove(0);
    assert_ne!(next.probe, order.probe);
    second.abort().await;

    let third = ground.start().await;
    two.measured(&third, &next, 20_000).await;
    assert_eq!(two.routes(&third).await[0].url, NORTH);
    // The routes are not confirmed yet: a third coordinator hands out the same ones to an agent
    // that lost the answer.
    third.stop().await;
    let fourth = ground.start().await;
    let again = two.heartbeat(&fourth, 0).await;
    assert!(again.routes.is_empty(), "confirmed by this heartbeat");
    fourth.stop().await;
}

#[tokio::test]
async fn what_was_acknowledged_is_ingested_once_whoever_dies() {
    let ground = Ground::new().await;
    let first = ground.start().await;
    first.until_hierarchy_is_loaded().await;
    let mut agent = FakeAgent::enrol(&first, 1).await;
    first.order(agent.id, AgentAction::Approve).await;
    first.add_seeds(&["http://127.0.0.1/"]).await;
    assert_eq!(agent.routes(&first).await.len(), 1);
    let mut running = first;
    for seq in 1..=6 {
        let url = format!("http://127.0.0.1/{seq}");
        let entries = [page(&url, "Page", "perennial"), link(&format!("http://203.0.113.{seq}/"))];
        assert_eq!(agent.ship_well(&running, seq, agent.package(seq, &entries)).await, "stored");
        running.abort().await;
        running = ground.start().await;
    }
    until("all are ingested", || async {
        store::packages::pending(
            ground.store(),
            &store::packages::InTurn::default(),
            crate::agent::now(),
            10,
        )
        .await
        .unwrap()
        .is_empty()
    })
    .await;
    assert_eq!(search(&running.coordinator.packages.index, "perennial").total, 6);
    let counts = counts(&ground, &running).await;
    assert_eq!(counts.packages.ingested, 6);
    running.stop().await;
}

#[tokio::test]
async fn a_new_generation_is_taken_up_while_it_runs() {
    let ground = Ground::new().await;
    let running = ground.start().await;
    running.until_hierarchy_is_loaded().await;
    let agent = FakeAgent::enrol(&running, 1).await;
    running.order(agent.id, AgentAction::Approve).await;
    let before = running.coordinator.delegated().unwrap();
    crate::world::load(ground.store(), &crate::world::hierarchy()).await;
    until("the new generation is in use", || {
        let now = running.coordinator.delegated().unwrap();
        std::future::ready(now.hierarchy().generation() != before.hierarchy().generation())
    })
    .await;
    assert_eq!(
        running.coordinator.delegated().unwrap().delegation_table().len(),
        1,
        "delegations are remapped"
    );
    running.stop().await;
}

/// While no coordinator runs, a new generation comes: the next one carries over, and only then
/// keeps the new hierarchy.
#[tokio::test]
async fn a_delegation_ends_whose_range_vanished_where_only_the_root_is_around() {
    let ground = Ground::new().await;
    let first = ground.start().await;
    first.until_hierarchy_is_loaded().await;
    let agent = FakeAgent::enrol(&first, 1).await;
    first.order(agent.id, AgentAction::Approve).await;
    assert_eq!(store::delegations::list_active(ground.store()).await.unwrap().len(), 1);
    first.stop().await;
    let kept = ground.snapshot();
    let emptied = hierarchy::Builder::default()
        .build(hierarchy::Generation::new(0), hierarchy::Companies::default())
        .0;
    crate::world::load(ground.store(), &emptied).await;

    let second = ground.start().await;
    until("the delegation has ended", || async {
        store::delegations::list_active(ground.store()).await.unwrap().is_empty()
    })
    .await;
    let count =
        "UPDATE delegations SET range_change = range_change WHERE range_change = 'vanished'";
    assert_eq!(store::testing::execute(ground.store(), count).await.unwrap(), 1);
    second.until_hierarchy_is_loaded().await;
    until("the coordinator shows it", || {
        std::future::ready(
            second
                .coordinator
                .delegated()
                .is_some_and(|delegated| delegated.delegation_table().is_empty()),
        )
    })
    .await;
    assert_ne!(ground.snapshot(), kept);
    second.stop().await;
}

#[tokio::test]
async fn a_lost_index_is_built_again_from_the_packages() {
    let ground = Ground::new().await;
    let first = ground.start().await;
    first.until_hierarchy_is_loaded().await;
    let mut agent = FakeAgent::enrol(&first, 1).await;
    first.order(agent.id, AgentAction::Approve).await;
    first.add_seeds(&["http://127.0.0.1/"]).await;
    agent.routes(&first).await;
    for seq in 1..=3 {
        let entries = [page(&format!("http://127.0.0.1/{seq}"), "Page", "perennial")];
        agent.ship_well(&first, seq, agent.package(seq, &entries)).await;
    }
    until("all are ingested", || async {
        store::packages::pending(
            ground.store(),
            &store::packages::InTurn::default(),
            crate::agent::now(),
            10,
        )
        .await
        .unwrap()
        .is_empty()
    })
    .await;
    first.stop().await;
    ground.lose_the_index();
    let second = ground.start().await;
    until("all pages are found", || {
        let found = search(&second.coordinator.packages.index, "perennial");
        std::future::ready(found.total == 3)
    })
    .await;
    assert_eq!(counts(&ground, &second).await.packages.pages, 3, "counted once");
    second.stop().await;
}
