//! A transaction about one agent does not hold up the others, nor heartbeats.

use std::time::Duration;

use model::{AgentId, AgentState};
use serde_json::json;
use store::agents::{self, Heartbeat, Order};
use store::delegations::{self, Assignment, Cause, DelegationOutcome};
use store::routes;
use store::testing::{begin, execute};

use crate::world::{self, NOW, World, range};

/// Longer than any statement of a test that waits for nobody.
const LONG: Duration = Duration::from_secs(20);

const HOSTS: &str = "SELECT FROM hosts FOR UPDATE";

/// Two agents that have a host and a waiting URL each.
async fn world() -> (World, AgentId, AgentId) {
    let world = World::new().await;
    let first = world.approved(1, Some("192.0.2.0/24")).await;
    let second = world.approved(2, Some("198.51.100.0/24")).await;
    world.queue(&["http://a.example/"]).await;
    world.settle_hosts("192.0.2.9", "192.0.2.0/24").await;
    world.queue(&["http://b.example/"]).await;
    world.settle_hosts("198.51.100.9", "198.51.100.0/24").await;
    (world, first, second)
}

async fn heartbeat(world: &World, agent: AgentId) {
    let status = json!({});
    let heartbeat = world::heartbeat(agent, &status);
    agents::heartbeat(world.store(), &heartbeat, NOW, NOW).await.unwrap().unwrap();
}

async fn assign(world: &World, agent: AgentId) -> DelegationOutcome {
    let assignment = Assignment {
        subnet: range("192.0.2.0/24"),
        agent,
        fencing_number: 1,
        cause: Cause::Override,
        by: "admin",
        note: "",
    };
    delegations::assign(world.store(), &assignment, None, NOW).await.unwrap()
}

/// Returns when this number of transactions wait for others.
async fn until_waiting(world: &World, transactions: u64) {
    let waiting = "SELECT FROM pg_stat_activity
                   WHERE datname = current_database() AND wait_event_type = 'Lock'";
    while execute(world.store(), waiting).await.unwrap() < transactions {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn an_agent_that_is_locked_delays_no_routes_of_others() {
    let (world, first, second) = world().await;
    let lock = begin(world.store(), "SELECT FROM agents WHERE id = 2 FOR UPDATE").await.unwrap();
    let routed = tokio::time::timeout(LONG, routes::route(world.store(), 10, 10)).await;
    let agents = |routed: &[routes::RoutedUrl]| routed.iter().map(|r| r.agent).collect::<Vec<_>>();
    assert_eq!(agents(&routed.unwrap().unwrap()), [first]);
    lock.rollback().await.unwrap();
    assert_eq!(agents(&routes::route(world.store(), 10, 10).await.unwrap()), [second]);
}

#[tokio::test]
async fn a_heartbeat_does_not_wait_for_a_subnet_that_the_agent_gets() {
    let (world, _, second) = world().await;
    let lock = begin(world.store(), HOSTS).await.unwrap();
    let heard = async {
        until_waiting(&world, 1).await;
        tokio::time::timeout(LONG, heartbeat(&world, second)).await.unwrap();
        lock.rollback().await.unwrap();
    };
    let (assigned, ()) = tokio::join!(assign(&world, second), heard);
    assert!(matches!(assigned, DelegationOutcome::Applied(_)), "{assigned:?}");
}

/// Begins one thing, which waits for the hosts, then another, and sets the hosts free when both
/// wait.
async fn in_this_order<A, B>(
    world: &World,
    first: impl Future<Output = A>,
    second: impl Future<Output = B>,
) -> (A, B) {
    with_lock(world, HOSTS, first, second).await
}

/// [`in_this_order`], where the first thing waits for what `lock` selects.
async fn with_lock<A, B>(
    world: &World,
    lock: &'static str,
    first: impl Future<Output = A>,
    second: impl Future<Output = B>,
) -> (A, B) {
    let lock = begin(world.store(), lock).await.unwrap();
    let second = async {
        until_waiting(world, 1).await;
        let end = async {
            until_waiting(world, 2).await;
            lock.rollback().await.unwrap();
        };
        tokio::join!(second, end).0
    };
    tokio::join!(first, second)
}

#[tokio::test]
async fn a_revocation_and_a_delegation_wait_for_each_other() {
    for revokes_first in [false, true] {
        let (world, _, agent) = world().await;
        let assign = Box::pin(assign(&world, agent));
        let revoke = Box::pin(agents::order(world.store(), agent, Order::Revoke, "admin", NOW));
        let assigned = if revokes_first {
            in_this_order(&world, revoke, assign).await.1
        } else {
            in_this_order(&world, assign, revoke).await.0
        };
        assert_eq!(assigned == DelegationOutcome::AgentGone, revokes_first, "{assigned:?}");
        let held = delegations::list_active(world.store()).await.unwrap();
        assert!(held.iter().all(|held| held.agent != agent), "{held:?}");
        let identity = agents::identity(world.store(), agent).await.unwrap().unwrap();
        assert_eq!(identity.state, AgentState::Revoked);
    }
}

#[tokio::test]
async fn hosts_are_locked_in_one_order() {
    // An order by names is once the order by numbers, and once its reverse.
    for names in [["z", "m", "c"], ["c", "m", "z"]] {
        let (world, _, agent) = world().await;
        for name in names {
            world.queue(&[&format!("http://{name}.example/")]).await;
        }
        world.settle_hosts("192.0.2.9", "192.0.2.0/24").await;
        let middle = "SELECT FROM hosts WHERE authority = 'm.example' FOR UPDATE";
        let assigned = Box::pin(assign(&world, agent));
        let queued = world.queue(&["http://c.example/1", "http://z.example/1"]);
        let (assigned, queued) = with_lock(&world, middle, assigned, queued).await;
        assert!(matches!(assigned, DelegationOutcome::Applied(_)), "{assigned:?}");
        assert_eq!(queued, 2);
    }
}

#[tokio::test]
async fn a_heartbeat_waits_for_the_revocation_of_its_agent() {
    let (world, agent, _) = world().await;
    assert_eq!(routes::route(world.store(), 10, 10).await.unwrap().len(), 2);
    let revoked = Box::pin(agents::order(world.store(), agent, Order::Revoke, "admin", NOW));
    let status = json!({});
    let confirmed = Heartbeat { routes_after: 1, ..world::heartbeat(agent, &status) };
    let heard = agents::heartbeat(world.store(), &confirmed, NOW, NOW);
    let (revoked, heard) = in_this_order(&world, revoked, heard).await;
    revoked.unwrap();
    assert_eq!(heard.unwrap().unwrap().state, AgentState::Revoked);
}
