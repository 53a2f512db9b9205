//! Hosts in address space that no registry has assigned.

use std::time::{Duration, Instant};

use coordinator::placement::audit::{self, audit_delegations};
use coordinator::runtime::events::Event;
use hierarchy::{Hierarchy, Range};
use model::HostId;
use protocol::ProbeOrder;
use store::generations::Load;
use store::hosts;
use store::testing::execute;
use store::unregistered_subnets;

use crate::agent::FakeAgent;
use crate::world::{Ground, Running, hierarchy_of, load, until};

const URL: &str = "http://41.0.0.1/";

/// The home of the agent, and these.
fn world_with(subnets: &[(&str, &str)]) -> Hierarchy {
    hierarchy_of(&[&[("127.0.0.1 - 127.0.0.1", "home-1")], subnets].concat())
}

/// A coordinator on this world, and an agent that has the host of [`URL`].
async fn with_host(ground: &Ground, subnets: &[(&str, &str)]) -> (Running, FakeAgent) {
    let running = ground.start_on(&world_with(subnets)).await;
    let mut agent = FakeAgent::approved(&running, 1).await;
    running.add_seeds(&[URL]).await;
    measure(&running, &mut agent).await;
    assert_eq!(agent.routes(&running).await[0].url, URL);
    (running, agent)
}

async fn measure(running: &Running, agent: &mut FakeAgent) {
    let order = agent.orders(running).await.remove(0);
    carry_out(running, agent, &order).await;
}

/// Carries out an order, which can only be for the address of [`URL`].
async fn carry_out(running: &Running, agent: &mut FakeAgent, order: &ProbeOrder) {
    assert_eq!(order.address.to_string(), "41.0.0.1");
    agent.measured(running, order, 9_000).await;
}

/// The delegated subnets except the home.
async fn delegated(ground: &Ground) -> Vec<Range> {
    let held = store::delegations::list_active(ground.store()).await.unwrap();
    let mut subnets: Vec<Range> = held.iter().skip(1).map(|held| held.subnet).collect();
    subnets.sort_unstable();
    subnets
}

fn ranges(subnets: &[&str]) -> Vec<Range> {
    subnets.iter().map(|subnet| subnet.parse().unwrap()).collect()
}

async fn until_delegated(ground: &Ground, subnets: &[&str]) {
    let expected = ranges(subnets);
    until("the delegations fit", || async { delegated(ground).await == expected }).await;
}

/// The same, while the agent carries out its orders. A search of an address that was measured
/// before may end without one.
async fn measure_until_delegated(
    ground: &Ground,
    running: &Running,
    agent: &mut FakeAgent,
    subnets: &[&str],
) {
    let expected = ranges(subnets);
    until("the delegations fit", async || {
        for order in agent.new_orders(running, 0).await {
            carry_out(running, agent, &order).await;
        }
        delegated(ground).await == expected
    })
    .await;
}

/// The subnets of hosts there, in the order of their addresses.
async fn placed(ground: &Ground) -> Vec<String> {
    let mut hosts = hosts::with_address(ground.store(), HostId::new(0), 10).await.unwrap();
    hosts.sort_by_key(|host| host.address);
    hosts.into_iter().filter_map(|host| Some(host.subnet?.to_string())).collect()
}

#[tokio::test]
async fn room_that_is_used_up_is_free_again_with_the_next_generation() {
    let ground = Ground::bare().await;
    load(ground.store(), &world_with(&[])).await;
    let running = ground.start_changed(|config| config.registries.unregistered_subnets = 1).await;
    running.until_hierarchy_is_loaded().await;
    running.add_seeds(&["http://41.0.0.1/", "http://42.0.0.1/"]).await;
    let failed = "UPDATE hosts SET retry_at = now() WHERE state = 'failed'";
    until("there was room for one", || async {
        running.coordinator.events.emit(Event::HostsResolved);
        execute(ground.store(), failed).await.unwrap() == 1
    })
    .await;
    // The first of them whose lookup was stored has the room.
    let first = placed(&ground).await;
    let (seed, subnet) = match &first[..] {
        [only] if only == "41.0.0.0/22" => ("http://42.0.0.1/", "42.0.0.0/22"),
        [only] if only == "42.0.0.0/22" => ("http://41.0.0.1/", "41.0.0.0/22"),
        _ => panic!("{first:?}"),
    };
    let given_up = "UPDATE hosts SET state = 'failed' WHERE state <> 'failed'";
    assert_eq!(execute(ground.store(), given_up).await.unwrap(), 1);
    let before = running.coordinator.delegated().unwrap().hierarchy().generation();
    load(ground.store(), &world_with(&[("198.51.100.0/24", "east")])).await;
    until("the new generation is in use", || {
        let now = running.coordinator.delegated().unwrap().hierarchy().generation();
        std::future::ready(now != before)
    })
    .await;
    running.add_seeds(&[seed]).await;
    until("there is room", || async {
        running.coordinator.events.emit(Event::HostsResolved);
        placed(&ground).await == [subnet]
    })
    .await;
    running.stop().await;
}

#[tokio::test]
async fn unused_subnets_stay_until_a_load_leaves_them_out() {
    let ground = Ground::bare().await;
    let running = ground.start_on(&world_with(&[])).await;
    let range: Range = "41.0.0.0/22".parse().unwrap();
    let now = running.coordinator.now();
    unregistered_subnets::add(ground.store(), &[range], now).await.unwrap();
    let has_it = world_with(&[("41.0.0.0/22", "unregistered")]);
    let mut split = Load::wait(ground.store()).await.unwrap();
    split.copy(&has_it, &|_| {}).await.unwrap();
    let split = split.swap_same_data(Instant::now()).await.unwrap();
    let in_use = || running.coordinator.delegated().unwrap().hierarchy().generation();
    until("the split generation is in use", || std::future::ready(in_use() == split)).await;
    assert_eq!(unregistered_subnets::all(ground.store()).await.unwrap(), [range]);
    load(ground.store(), &world_with(&[])).await;
    until("the range is deleted", async || {
        unregistered_subnets::all(ground.store()).await.unwrap().is_empty()
    })
    .await;
    running.stop().await;
}

#[tokio::test]
async fn a_host_there_gets_a_virtual_subnet_that_makes_room_for_records() {
    let ground = Ground::bare().await;
    let (running, _agent) = with_host(&ground, &[("41.0.1.128/25", "east")]).await;
    until_delegated(&ground, &["41.0.0.0 - 41.0.1.127"]).await;
    let hierarchy = running.coordinator.delegated().unwrap();
    let now = running.coordinator.now();
    let report = audit_delegations(ground.store(), hierarchy.hierarchy(), now).await.unwrap();
    assert_eq!(report.findings, []);
    load(ground.store(), &world_with(&[("41.0.0.0/25", "east")])).await;
    until_delegated(&ground, &["41.0.0.0/25", "41.0.0.128 - 41.0.1.127"]).await;
    running.stop().await;
}

#[tokio::test]
async fn a_host_whose_record_vanished_is_not_delegated_with_the_block_around_it() {
    let ground = Ground::bare().await;
    let (running, mut agent) = with_host(&ground, &[("41.0.0.0/24", "east")]).await;
    until_delegated(&ground, &["41.0.0.0/24"]).await;
    load(ground.store(), &world_with(&[("41.1.0.0/16", "west")])).await;
    measure_until_delegated(&ground, &running, &mut agent, &["41.0.0.0/22"]).await;
    running.stop().await;
}

#[tokio::test]
async fn a_host_whose_record_vanished_gets_its_virtual_subnet_a_moment_after_another_addition() {
    let ground = Ground::bare().await;
    let (running, mut agent) = with_host(&ground, &[("41.0.0.0/24", "east")]).await;
    until_delegated(&ground, &["41.0.0.0/24"]).await;
    let an_hour = Instant::now() + Duration::from_hours(1);
    *running.coordinator.registry.unregistered_space.rests_until.lock().unwrap() = Some(an_hour);
    load(ground.store(), &world_with(&[("41.1.0.0/16", "west")])).await;
    measure_until_delegated(&ground, &running, &mut agent, &["41.0.0.0/22"]).await;
    running.stop().await;
}

#[tokio::test]
async fn hosts_whose_record_vanished_move_in_batches() {
    let ground = Ground::bare().await;
    let running = ground.start_on(&world_with(&[("41.0.0.0/24", "east")])).await;
    let more_than_a_batch = "INSERT INTO hosts (scheme, authority, state, address, first, last)
        SELECT 'http', n || '.example', 'resolved', '41.0.0.1', '41.0.0.0', '41.0.0.255'
        FROM generate_series(1, 2001) AS n";
    execute(ground.store(), more_than_a_batch).await.unwrap();
    load(ground.store(), &world_with(&[("41.1.0.0/16", "west")])).await;
    let moved = Some("41.0.0.0/22".parse().unwrap());
    until("the hosts are moved", async || {
        let hosts = hosts::with_address(ground.store(), HostId::new(0), 3_000).await.unwrap();
        hosts.len() == 2001 && hosts.iter().all(|host| host.subnet == moved)
    })
    .await;
    let of_one_transaction = "DELETE FROM hosts WHERE xmin::text IN
        (SELECT xmin::text FROM hosts GROUP BY xmin::text HAVING count(*) > 2000)";
    assert_eq!(execute(ground.store(), of_one_transaction).await.unwrap(), 0);
    running.stop().await;
}

#[tokio::test]
async fn a_root_that_was_delegated_is_not_any_more_after_an_audit() {
    let ground = Ground::bare().await;
    let running = ground.start_on(&world_with(&[])).await;
    let _agent = FakeAgent::approved(&running, 1).await;
    let root = "INSERT INTO delegations (first, last, agent, fencing_number, reason)
                SELECT '0.0.0.0', '255.255.255.255', id, 1, 'lowest' FROM agents";
    execute(ground.store(), root).await.unwrap();
    until_delegated(&ground, &["0.0.0.0/0"]).await;
    // A coordinator that starts has audited nothing.
    *running.coordinator.placement.audited.lock().await = None;
    audit::run(&running.coordinator.placement).await.unwrap();
    until_delegated(&ground, &[]).await;
    running.stop().await;
}

#[tokio::test]
async fn a_private_address_is_neither_probed_nor_delegated() {
    let ground = Ground::bare().await;
    let running = ground.start_on(&world_with(&[])).await;
    let mut agent = FakeAgent::approved(&running, 1).await;
    running.queue_links(&["http://10.1.2.3/", "http://169.254.169.254/"]).await;
    until("the hosts are given up", || async {
        let refused = "UPDATE hosts SET reason = reason WHERE state = 'failed' AND reason IN
            ('10.1.2.3 is a special-purpose address (private)',
             '169.254.169.254 is a special-purpose address (link-local)')";
        execute(ground.store(), refused).await.unwrap() == 2
    })
    .await;
    assert_eq!(delegated(&ground).await, []);
    assert!(agent.heartbeat(&running, 0).await.probes.is_empty());
    assert_eq!(store::searches::undelegated_subnets(ground.store()).await.unwrap(), []);
    running.stop().await;
}
