//! Routes have numbers without gaps, respect limits, and go to approved agents only.

use model::AgentId;
use store::agents::{self, Heartbeat, HeartbeatOutcome, Order};
use store::testing::execute;
use store::{regions, restored, routes};

use crate::world::{self, NOW, World};

async fn world_with_urls(count: usize) -> (World, AgentId) {
    let world = World::new().await;
    let agent = world.approved(1, Some("192.0.2.0/24")).await;
    let urls: Vec<String> = (0..count).map(|n| format!("http://a.example/{n}")).collect();
    world.queue(&urls.iter().map(String::as_str).collect::<Vec<_>>()).await;
    world.settle_hosts("192.0.2.9", "192.0.2.0/24").await;
    (world, agent)
}

async fn seqs(world: &World, agent: AgentId, after: u64) -> Vec<u64> {
    routes::after(world.store(), agent, after, 100)
        .await
        .unwrap()
        .iter()
        .map(|route| route.seq)
        .collect()
}

#[tokio::test]
async fn numbers_rise_without_gaps_over_batches() {
    let (world, agent) = world_with_urls(5).await;
    assert_eq!(routes::route(world.store(), 2, 100).await.unwrap().len(), 2);
    assert_eq!(routes::route(world.store(), 100, 100).await.unwrap().len(), 3);
    assert!(routes::route(world.store(), 100, 100).await.unwrap().is_empty());
    assert_eq!(seqs(&world, agent, 0).await, [1, 2, 3, 4, 5]);
    assert_eq!(seqs(&world, agent, 3).await, [4, 5]);
    let first = &routes::after(world.store(), agent, 0, 1).await.unwrap()[0];
    assert_eq!(first.url, "http://a.example/0", "in the order of arrival");
}

/// The agent has stored the routes up to `routes_after`.
async fn heartbeat(world: &World, agent: AgentId, routes_after: u64) -> HeartbeatOutcome {
    let status = serde_json::json!({});
    let heartbeat = Heartbeat { routes_after, ..world::heartbeat(agent, &status) };
    agents::heartbeat(world.store(), &heartbeat, NOW, NOW).await.unwrap().unwrap()
}

#[tokio::test]
async fn no_route_is_lost_after_a_backup_was_restored() {
    let (world, agent) = world_with_urls(3).await;
    assert_eq!(routes::route(world.store(), 1, 100).await.unwrap().len(), 1);
    // Since the backup the agent has stored two more.
    let refused = heartbeat(&world, agent, 3).await;
    assert_eq!((refused.confirmed, refused.last_route), (0, 1));
    let region = regions::next_id(world.store()).await.unwrap();
    restored::skip_numbers(world.store(), 1_000, NOW, "ada", NOW).await.unwrap();
    assert!(regions::next_id(world.store()).await.unwrap().get() > region.get() + 1_000);
    assert_eq!(routes::route(world.store(), 100, 100).await.unwrap().len(), 2);
    let taken = heartbeat(&world, agent, 3).await;
    assert_eq!((taken.confirmed, taken.last_route), (0, 1_003));
    assert_eq!(seqs(&world, agent, 3).await, [1_001, 1_002, 1_003]);
    for next_is_later in [
        "SELECT WHERE nextval(pg_get_serial_sequence('handovers', 'id')) > 1000",
        "SELECT WHERE nextval(pg_get_serial_sequence('probes', 'id')) > 1000",
        "SELECT WHERE nextval(pg_get_serial_sequence('agents', 'id')) > 1000",
    ] {
        assert_eq!(execute(world.store(), next_is_later).await.unwrap(), 1, "{next_is_later}");
    }
}

#[tokio::test]
async fn an_agent_gets_no_more_than_it_may_have_ahead() {
    let (world, agent) = world_with_urls(5).await;
    assert_eq!(routes::route(world.store(), 100, 3).await.unwrap().len(), 3);
    assert!(routes::route(world.store(), 100, 3).await.unwrap().is_empty());
    let standing = heartbeat(&world, agent, 2).await;
    assert_eq!((standing.confirmed, standing.last_route), (2, 3));
    assert_eq!(routes::route(world.store(), 100, 3).await.unwrap().len(), 2);
    assert_eq!(seqs(&world, agent, 2).await, [3, 4, 5]);
}

#[tokio::test]
async fn a_paused_agent_gets_nothing_until_it_is_resumed() {
    let (world, agent) = world_with_urls(2).await;
    agents::order(world.store(), agent, Order::Pause, "admin", NOW).await.unwrap();
    assert!(routes::route(world.store(), 100, 100).await.unwrap().is_empty());
    agents::order(world.store(), agent, Order::Resume, "admin", NOW).await.unwrap();
    assert_eq!(routes::route(world.store(), 100, 100).await.unwrap().len(), 2);
}

#[tokio::test]
async fn two_routers_at_once_leave_no_gap_and_route_nothing_twice() {
    let (world, agent) = world_with_urls(60).await;
    let store = world.store();
    let route = || async move {
        let mut routed = 0;
        for _ in 0..10 {
            routed += routes::route(store, 4, 1_000).await.unwrap().len();
        }
        routed
    };
    let (one, other) = tokio::join!(route(), route());
    let rest = routes::route(store, 100, 1_000).await.unwrap().len();
    assert_eq!(one + other + rest, 60);
    assert_eq!(seqs(&world, agent, 0).await, (1..=60).collect::<Vec<u64>>());
}

/// Fails if the statement reads more routes than those of the hosts.
macro_rules! explained {
    ($statement:literal) => {
        concat!(
            "DO $do$ DECLARE plan json; BEGIN EXECUTE $q$EXPLAIN (FORMAT JSON) ",
            include_str!(concat!("../../src/delegations/", $statement)),
            "$q$ INTO plan USING ARRAY[1, 2, 3]::bigint[], ARRAY[2, 2, 2]::bigint[], now();
            IF plan::text NOT LIKE '%routes_by_host%' THEN RAISE EXCEPTION '%', plan; END IF;
            END $do$"
        )
    };
}

#[tokio::test]
async fn a_move_reads_the_routes_of_its_hosts_alone() {
    let (world, agent) = world_with_urls(1).await;
    assert_eq!(agent, AgentId::new(1));
    let hosts = "INSERT INTO hosts (scheme, authority, state, address, first, last, agent)
        SELECT 'http', 'h' || n || '.example', 'delegated', '192.0.2.9', '192.0.2.0',
               '192.0.2.255', 1
        FROM generate_series(1, 1000) AS n";
    let routes = "INSERT INTO routes (agent, seq, url)
        SELECT 1, n, 'http://h' || n % 1000 || '.example/' || n FROM generate_series(1, 9000) AS n";
    for statement in [hosts, routes, "ANALYZE"] {
        execute(world.store(), statement).await.unwrap();
    }
    for statement in [explained!("queue_routes_again.sql"), explained!("take_routes_back.sql")] {
        execute(world.store(), statement).await.unwrap();
    }
}
