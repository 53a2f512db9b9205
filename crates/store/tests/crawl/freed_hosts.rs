//! The hosts of an agent that is revoked or leaves are taken from it in steps.

use model::AgentId;
use store::agents::{self, Order};
use store::testing::execute;
use store::{delegations, handovers};

use crate::world::{NOW, World};

const HOSTS: u64 = 4_500;
const STEP: u64 = 2_000;

/// An agent with more hosts than two steps take.
async fn world() -> (World, AgentId) {
    let world = World::new().await;
    let agent = world.approved(1, None).await;
    let hosts = "INSERT INTO hosts (scheme, authority, state, address, first, last, agent)
        SELECT 'http', 'h' || n || '.example', 'delegated', '192.0.2.9', '192.0.2.0',
               '192.0.2.255', 1
        FROM generate_series(1, 4500) AS n";
    execute(world.store(), hosts).await.unwrap();
    (world, agent)
}

/// Steps until nothing is left, as the task does it.
async fn free_all(world: &World, agent: AgentId) -> Vec<u64> {
    let mut steps = Vec::new();
    while let Some((of, hosts)) = delegations::free_hosts(world.store(), NOW).await.unwrap() {
        assert_eq!(of, agent);
        steps.push(hosts);
    }
    steps
}

async fn ordered(world: &World, agent: AgentId) -> u64 {
    handovers::open(world.store(), agent, &[], 10_000).await.unwrap().len() as u64
}

#[tokio::test]
async fn an_agent_that_leaves_is_told_of_all_its_hosts_step_by_step() {
    let (world, agent) = world().await;
    assert!(free_all(&world, agent).await.is_empty());
    for _ in 0..2 {
        let leaving = agents::leave(world.store(), agent, false, NOW).await.unwrap().unwrap();
        assert_eq!(leaving.hosts_left, HOSTS, "also those that it was not told of");
        assert_eq!(ordered(&world, agent).await, STEP);
    }
    assert_eq!(free_all(&world, agent).await, [STEP, HOSTS - 2 * STEP]);
    assert_eq!(ordered(&world, agent).await, HOSTS);
    let leaving = agents::leave(world.store(), agent, false, NOW).await.unwrap().unwrap();
    assert_eq!(leaving.hosts_left, HOSTS);
}

#[tokio::test]
async fn a_revoked_agent_loses_all_its_hosts_step_by_step() {
    let (world, agent) = world().await;
    agents::order(world.store(), agent, Order::Revoke, "admin", NOW).await.unwrap();
    assert_eq!(free_all(&world, agent).await, [STEP, HOSTS - 2 * STEP]);
    for expected in [STEP, STEP, HOSTS - 2 * STEP, 0] {
        let lapsed = handovers::lapse(world.store(), NOW.plus_ms(1), NOW.plus_ms(1)).await;
        assert_eq!(lapsed.unwrap(), expected);
    }
    let free = "SELECT FROM hosts WHERE state = 'resolved' AND agent IS NULL";
    assert_eq!(execute(world.store(), free).await.unwrap(), HOSTS);
}
