//! An agent whose machine moves to another network.

use coordinator::placement::settle_homes;
use model::Reason;
use store::delegations;
use store::testing::execute;

use crate::agent::{FakeAgent, client};
use crate::world::Ground;

#[tokio::test]
async fn an_agent_that_moved_is_at_home_where_its_heartbeats_come_from() {
    let ground = Ground::new().await;
    let running = ground.start().await;
    running.until_hierarchy_is_loaded().await;
    let mut agent = FakeAgent::approved(&running, 1).await;
    agent.client = client("127.0.0.2");
    agent.heartbeat(&running, 0).await;
    execute(ground.store(), "UPDATE agents SET source_since = source_until - interval '1 day'")
        .await
        .unwrap();
    settle_homes::run(&running.coordinator.placement).await.unwrap();
    let held = delegations::list_active(ground.store()).await.unwrap();
    assert_eq!(held.len(), 1, "in its former home there is no host for which to search an agent");
    assert_eq!((held[0].agent, held[0].reason), (agent.id, Reason::Home));
    assert!(held[0].subnet.contains([127, 0, 0, 2].into()), "{:?}", held[0].subnet);
    let table = running.coordinator.delegated().unwrap();
    assert_eq!(table.delegation_table().subnets_of(agent.id).count(), 1);
    running.stop().await;
}
