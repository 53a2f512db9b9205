//! Enrolment, standing, heartbeats.

use model::{AgentState, Reason};
use serde_json::json;
use store::agents::{self, Enrolment, Heartbeat, Order, OrderOutcome};
use store::testing::execute;
use store::{delegations, handovers, routes};

use crate::world::{self, NOW, World, ip, range};

#[tokio::test]
async fn a_token_is_good_for_one_key() {
    let world = World::new().await;
    assert_eq!(world.enrol("nobody made it", 1, NOW).await, Enrolment::UnknownToken);
    world.token("one").await;
    let Enrolment::Enrolled { agent, state, fresh } = world.enrol("one", 1, NOW).await else {
        panic!("not enrolled")
    };
    assert_eq!((state, fresh), (AgentState::Pending, true));
    let again = Enrolment::Enrolled { agent, state, fresh: false };
    assert_eq!(world.enrol("one", 1, NOW).await, again);
    assert_eq!(world.enrol("whatever", 1, NOW).await, again, "a known key needs no token");
    assert_eq!(world.enrol("one", 2, NOW).await, Enrolment::UsedToken);
    world.token("two").await;
    assert_eq!(world.enrol("two", 2, NOW.plus_ms(60_000)).await, Enrolment::ExpiredToken);
    assert!(matches!(world.enrol("two", 2, NOW).await, Enrolment::Enrolled { fresh: true, .. }));
}

#[tokio::test]
async fn a_word_of_a_newer_version_is_an_error_with_its_place() {
    let world = World::new().await;
    let agent = world.approved(1, None).await;
    let allow = "ALTER TABLE agents DROP CONSTRAINT agents_state_check";
    execute(world.store(), allow).await.unwrap();
    execute(world.store(), "UPDATE agents SET state = 'retired'").await.unwrap();
    let error = agents::list(world.store()).await.unwrap_err();
    let told = format!(
        "agents.state of row {} holds \"retired\", which this version does not know",
        agent.get()
    );
    assert_eq!(error.to_string(), told);
}

#[tokio::test]
async fn approval_brings_the_home_subnet_and_revocation_ends_it() {
    let world = World::new().await;
    let agent = world.approved(1, Some("192.0.2.0/24")).await;
    let held = delegations::list_active(world.store()).await.unwrap();
    assert_eq!(held.len(), 1);
    assert_eq!(
        (held[0].agent, held[0].subnet, held[0].fencing_number),
        (agent, range("192.0.2.0/24"), 1)
    );
    assert_eq!(held[0].reason, Reason::Home);
    let order = |order| agents::order(world.store(), agent, order, "admin", NOW);
    assert_eq!(order(Order::Approve { home: None }).await.unwrap(), Some(OrderOutcome::Already));
    assert_eq!(order(Order::Resume).await.unwrap(), Some(OrderOutcome::Already));
    assert_eq!(order(Order::Pause).await.unwrap(), Some(OrderOutcome::Done));
    assert_eq!(order(Order::Revoke).await.unwrap(), Some(OrderOutcome::Done));
    assert_eq!(
        order(Order::Resume).await.unwrap(),
        Some(OrderOutcome::NotFrom(AgentState::Revoked))
    );
    assert!(delegations::list_active(world.store()).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_home_goes_to_the_first_that_lives_there() {
    let world = World::new().await;
    let first = world.approved(1, Some("192.0.2.0/24")).await;
    let second = world.approved(2, Some("192.0.2.0/24")).await;
    let held = delegations::list_active(world.store()).await.unwrap();
    assert_eq!(held.iter().map(|held| held.agent).collect::<Vec<_>>(), [first]);
    assert!(
        !delegations::settle_home(world.store(), second, &range("192.0.2.0/24"), None, NOW)
            .await
            .unwrap()
    );
    assert!(
        delegations::settle_home(world.store(), second, &range("198.51.100.0/24"), None, NOW)
            .await
            .unwrap()
    );
}

#[tokio::test]
async fn revocation_gives_the_work_back_when_the_lease_ends() {
    let world = World::new().await;
    let first = world.approved(1, Some("192.0.2.0/24")).await;
    world.queue(&["http://a.example/", "http://a.example/deep?q=1"]).await;
    world.settle_hosts("192.0.2.9", "192.0.2.0/24").await;
    assert_eq!(routes::route(world.store(), 10, 10).await.unwrap().len(), 2);
    // The first route is stored by the agent, the second is on its way.
    heartbeat(&world, first, 1).await;
    agents::order(world.store(), first, Order::Revoke, "admin", NOW).await.unwrap();
    let second = world.approved(2, Some("192.0.2.0/24")).await;
    assert!(routes::route(world.store(), 10, 10).await.unwrap().is_empty());
    assert_eq!(handovers::lapse(world.store(), NOW.plus_ms(1), NOW).await.unwrap(), 1);
    let routed = routes::route(world.store(), 10, 10).await.unwrap();
    let mut urls: Vec<&str> = routed.iter().map(|route| route.url.as_str()).collect();
    urls.sort_unstable();
    assert_eq!(urls, ["http://a.example/", "http://a.example/deep?q=1"]);
    assert!(routed.iter().all(|route| route.agent == second));
}

async fn heartbeat(
    world: &World,
    agent: model::AgentId,
    routes_after: u64,
) -> agents::HeartbeatOutcome {
    let status = json!({ "hosts": 1 });
    let heartbeat = Heartbeat { routes_after, ..world::heartbeat(agent, &status) };
    agents::heartbeat(world.store(), &heartbeat, NOW.plus_ms(-60_000), NOW).await.unwrap().unwrap()
}

#[tokio::test]
async fn a_heartbeat_that_confirms_routes_never_made_deletes_none() {
    let world = World::new().await;
    let agent = world.approved(1, Some("192.0.2.0/24")).await;
    world.queue(&["http://a.example/"]).await;
    world.settle_hosts("192.0.2.9", "192.0.2.0/24").await;
    assert_eq!(routes::route(world.store(), 10, 10).await.unwrap().len(), 1);
    for beyond in [2, 99, u64::MAX] {
        let outcome = heartbeat(&world, agent, beyond).await;
        assert_eq!((outcome.last_route, outcome.confirmed), (1, 0), "{beyond}");
        assert_eq!(routes::after(world.store(), agent, 0, 10).await.unwrap().len(), 1);
    }
    assert!(agents::workers(world.store()).await.unwrap()[0].last_heartbeat_at.is_none());
    assert_eq!(heartbeat(&world, agent, 1).await.confirmed, 1);
}

#[tokio::test]
async fn a_heartbeat_tells_whether_the_agent_turned() {
    let world = World::new().await;
    let agent = world.approved(1, None).await;
    assert!(agents::workers(world.store()).await.unwrap()[0].last_heartbeat_at.is_none());
    assert!(heartbeat(&world, agent, 0).await.presence_changed, "the first one");
    let standing = heartbeat(&world, agent, 0).await;
    assert_eq!(
        (standing.presence_changed, standing.state, standing.last_route),
        (false, AgentState::Approved, 0)
    );
    let status = json!({});
    let asleep_until = Some(NOW.plus_ms(5));
    let asleep = Heartbeat { asleep_until, ..world::heartbeat(agent, &status) };
    let since = NOW.plus_ms(-60_000);
    assert!(
        agents::heartbeat(world.store(), &asleep, since, NOW)
            .await
            .unwrap()
            .unwrap()
            .presence_changed
    );
    let worker = agents::workers(world.store()).await.unwrap()[0];
    assert_eq!((worker.last_heartbeat_at, worker.asleep_until), (Some(NOW), asleep_until));
    let late = NOW.plus_ms(100_000);
    let awake = Heartbeat { asleep_until, ..asleep };
    assert!(
        agents::heartbeat(world.store(), &awake, late.plus_ms(-60_000), late)
            .await
            .unwrap()
            .unwrap()
            .presence_changed
    );
    let idle = Heartbeat { takes_probes: false, ..awake };
    for expected in [true, false] {
        let outcome = agents::heartbeat(world.store(), &idle, since, late).await.unwrap().unwrap();
        assert_eq!(outcome.presence_changed, expected, "it carries out no probes any more");
    }
    assert!(!agents::workers(world.store()).await.unwrap()[0].takes_probes);
    let region = "UPDATE agents SET peer_addresses = '[]' WHERE peer_addresses IS NOT NULL";
    execute(world.store(), "UPDATE agents SET peer_addresses = '[]'").await.unwrap();
    for (wants_region, expected) in [(true, 1), (false, 0)] {
        let heartbeat = Heartbeat { wants_region, ..awake };
        agents::heartbeat(world.store(), &heartbeat, since, late).await.unwrap();
        assert_eq!(execute(world.store(), region).await.unwrap(), expected);
    }
    let unknown = Heartbeat { agent: model::AgentId::new(99), ..awake };
    assert_eq!(agents::heartbeat(world.store(), &unknown, since, NOW).await.unwrap(), None);
}

#[tokio::test]
async fn a_newer_profile_replaces_the_older() {
    let world = World::new().await;
    let agent = world.approved(1, None).await;
    let key = agents::identity(world.store(), agent).await.unwrap().unwrap().key;
    let profile = protocol::enrol::AgentProfile { name: "renamed".into(), ..world::profile(1) };
    let home = ip("203.0.113.7");
    let newcomer = agents::Newcomer { key: &key, profile: &profile, home };
    agents::enrol(world.store(), b"", &newcomer, NOW).await.unwrap();
    let kept = agents::home(world.store(), agent).await.unwrap();
    assert_eq!(kept, Some(ip("192.0.2.1")), "an approved agent does not move by itself");
}
