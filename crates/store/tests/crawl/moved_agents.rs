//! Agents whose heartbeats come from another address than their home.

use std::time::Duration;

use model::{AgentId, Reason, UnixMillis};
use serde_json::json;
use store::agents::{self, Heartbeat, MovedAgent};
use store::delegations;
use store::testing::execute;

use crate::world::{self, NOW, World, ip, range};

const DAY: Duration = Duration::from_hours(24);

/// A heartbeat `hours` after the first one.
async fn heartbeat(world: &World, agent: AgentId, source: &str, hours: i64) {
    let status = json!({});
    let heartbeat = Heartbeat { source: ip(source), ..world::heartbeat(agent, &status) };
    let now: UnixMillis = NOW.plus_ms(hours * 3_600_000);
    agents::heartbeat(world.store(), &heartbeat, now, now).await.unwrap().unwrap();
}

async fn moved(world: &World) -> Vec<MovedAgent> {
    agents::moved(world.store(), DAY).await.unwrap()
}

/// A round trip of each agent to one address.
const ROUND_TRIPS: &str = "INSERT INTO round_trips
        (address, agent, rtt_us, packages, reported_at, counted_us, counted_at)
    SELECT '198.51.100.1', id, 9, 1, now(), 9, now() FROM agents";

#[tokio::test]
async fn an_agent_has_moved_after_a_day_of_heartbeats_from_one_other_address() {
    let world = World::new().await;
    let agent = world.approved(1, None).await;
    for (source, hours) in [
        ("192.0.2.1", 0),
        ("198.51.100.9", 1),
        // It was at home once more, and then at a third address.
        ("192.0.2.1", 24),
        ("198.51.100.9", 26),
        ("203.0.113.1", 40),
        ("203.0.113.1", 63),
        // It has IPv6 as well.
        ("2001:db8::1", 64),
    ] {
        heartbeat(&world, agent, source, hours).await;
        assert_eq!(moved(&world).await, [], "{source} after {hours} h");
    }
    heartbeat(&world, agent, "203.0.113.1", 65).await;
    let home = ip("192.0.2.1");
    let source = ip("203.0.113.1");
    assert_eq!(moved(&world).await, [MovedAgent { agent, home, source, is_shared: false }]);
    let shown = agents::find(world.store(), agent).await.unwrap().unwrap();
    assert_eq!(shown.source, Some(source));
    assert_eq!(shown.source_since, Some(NOW.plus_ms(40 * 3_600_000)));
}

#[tokio::test]
async fn the_home_of_an_agent_with_ipv6_is_a_network_of_64_bits() {
    let world = World::new().await;
    let agent = world.approved(1, None).await;
    execute(world.store(), "UPDATE agents SET home = '2001:db8:0:7::1'").await.unwrap();
    heartbeat(&world, agent, "2001:db8:0:7:aaaa:bbbb:cccc:dddd", 0).await;
    heartbeat(&world, agent, "2001:db8:0:7:eeee:bbbb:cccc:dddd", 30).await;
    assert_eq!(agents::find(world.store(), agent).await.unwrap().unwrap().source, None);
    // It changes its addresses there, too.
    heartbeat(&world, agent, "2001:db8:0:8::1", 31).await;
    heartbeat(&world, agent, "2001:db8:0:8:1::", 54).await;
    assert_eq!(moved(&world).await, []);
    heartbeat(&world, agent, "2001:db8:0:8::2", 55).await;
    assert_eq!(moved(&world).await.len(), 1);
}

#[tokio::test]
async fn an_address_that_agents_share_is_nobodys_new_home() {
    let world = World::new().await;
    let first = world.approved(1, None).await;
    let second = world.approved(2, None).await;
    for agent in [first, second] {
        heartbeat(&world, agent, "198.51.100.9", 0).await;
        heartbeat(&world, agent, "198.51.100.9", 48).await;
    }
    assert_eq!(moved(&world).await, [], "it is a proxy that is not declared as one");
    heartbeat(&world, second, "192.0.2.1", 49).await;
    heartbeat(&world, second, "192.0.2.1", 99).await;
    let found = moved(&world).await;
    assert_eq!(found.iter().map(|moved| moved.agent).collect::<Vec<_>>(), [first]);
}

#[tokio::test]
async fn an_agent_that_moves_keeps_its_former_home_like_any_other_subnet() {
    let world = World::new().await;
    let agent = world.approved(1, Some("192.0.2.0/24")).await;
    let witness = world.approved(2, None).await;
    heartbeat(&world, agent, "203.0.113.1", 0).await;
    heartbeat(&world, agent, "203.0.113.1", 24).await;
    execute(
        world.store(),
        "INSERT INTO home_times SELECT a.id, w.id, a.home, 900, now()
         FROM agents a, agents w WHERE a.id <> w.id",
    )
    .await
    .unwrap();
    execute(world.store(), ROUND_TRIPS).await.unwrap();
    let found = moved(&world).await;
    let left = agents::move_home(world.store(), &found[0], true, NOW).await.unwrap();
    assert_eq!(left, Some(vec![range("192.0.2.0/24")]));
    let held = delegations::list_active(world.store()).await.unwrap();
    assert_eq!((held[0].agent, held[0].reason), (agent, Reason::Company));
    assert_eq!(agents::home(world.store(), agent).await.unwrap(), Some(ip("203.0.113.1")));
    assert_eq!(store::home_times::list(world.store()).await.unwrap(), [], "{witness} is elsewhere");
    let kept = execute(world.store(), "DELETE FROM round_trips").await.unwrap();
    assert_eq!(kept, 1, "those of the other agent");
    let sites = agents::sites(world.store()).await.unwrap();
    assert_eq!((sites[0].home_since, sites[1].home_since), (Some(NOW), None));
    let again = agents::move_home(world.store(), &found[0], true, NOW).await.unwrap();
    assert_eq!(again, None, "it has moved already");
    assert!(moved(&world).await.is_empty());
}

#[tokio::test]
async fn an_agent_that_was_behind_a_proxy_keeps_what_it_measured() {
    let world = World::new().await;
    let agent = world.approved(1, None).await;
    world.approved(2, None).await;
    execute(world.store(), "UPDATE agents SET home = '192.0.2.80'").await.unwrap();
    heartbeat(&world, agent, "203.0.113.1", 0).await;
    heartbeat(&world, agent, "203.0.113.1", 24).await;
    execute(world.store(), ROUND_TRIPS).await.unwrap();
    let found = moved(&world).await;
    assert!(found[0].is_shared, "another agent has the same home");
    agents::move_home(world.store(), &found[0], false, NOW).await.unwrap().unwrap();
    let kept = execute(world.store(), "DELETE FROM round_trips").await.unwrap();
    assert_eq!(kept, 2);
    assert_eq!(agents::sites(world.store()).await.unwrap()[0].home_since, None);
}
