//! The whole pipeline: enrol, approve, seed, probe, decide, route, fetch, ship, index, discover.

use std::future::ready;

use coordinator::placement::agent_administration::AgentAction;
use model::{HostId, Reason};
use protocol::page::Outcome;
use protocol::{HeartbeatRequest, HeartbeatResponse, ProbeResult};

use crate::agent::{FakeAgent, fetch, link, page};
use crate::world::{self, Ground, Running, until};

const NORTH: &str = "http://198.51.100.1/";

async fn two_agents(running: &Running) -> (FakeAgent, FakeAgent) {
    running.until_hierarchy_is_loaded().await;
    let mut one = FakeAgent::enrol(running, 1).await;
    let mut two = FakeAgent::enrol(running, 2).await;
    for agent in [&mut one, &mut two] {
        running.order(agent.id, AgentAction::Approve).await;
        agent.heartbeat(running, 0).await;
    }
    (one, two)
}

/// The URLs that a search finds, the best first.
fn hits(running: &Running, query: &str) -> Vec<String> {
    let answer = world::search(&running.coordinator.packages.index, query);
    answer.hits.iter().map(|hit| hit.url.clone()).collect()
}

#[tokio::test]
async fn from_a_seed_to_a_search_result_and_on_to_what_was_discovered() {
    let ground = Ground::new().await;
    let running = ground.start().await;
    let (mut one, mut two) = two_agents(&running).await;
    running.add_seeds(&[NORTH]).await;

    // Nobody serves the company; the climb asks both, one after the other, and the first is too
    // slow.
    let order = one.orders(&running).await.remove(0);
    assert_eq!((order.address.to_string().as_str(), order.port), ("198.51.100.1", 80));
    assert!(two.new_orders(&running, 0).await.is_empty(), "one after the other");
    one.measured(&running, &order, 80_000).await;
    let order = two.orders(&running).await.remove(0);
    two.measured(&running, &order, 12_000).await;

    let routes = two.routes(&running).await;
    assert_eq!(routes.len(), 1);
    assert_eq!(routes[0].url, NORTH);

    // The second subnet of the company: its agent is asked first, and is near enough.
    let found =
        [page(NORTH, "Northern lights", "aurora borealis"), link("http://198.51.100.65/a#top")];
    assert_eq!(two.ship_well(&running, 1, two.package(1, &found)).await, "stored");
    until("the page is found", || ready(hits(&running, "aurora") == [NORTH])).await;
    let order = two.orders(&running).await.remove(0);
    assert_eq!(order.address.to_string(), "198.51.100.65");
    two.measured(&running, &order, 13_000).await;
    assert_eq!(two.routes(&running).await[0].url, "http://198.51.100.65/a");
    let held = store::delegations::list_active(ground.store()).await.unwrap();
    let reasons: Vec<Reason> = held.iter().map(|held| held.reason).collect();
    assert_eq!(reasons, [Reason::Home, Reason::Home, Reason::Threshold, Reason::Company]);

    // What is gone is not found any more.
    let gone = [fetch(NORTH, Outcome::Other { status: 404, media_type: None })];
    two.ship_well(&running, 2, two.package(2, &gone)).await;
    until("the page is not found any more", || ready(hits(&running, "aurora").is_empty())).await;
    running.stop().await;
}

#[tokio::test]
async fn when_nobody_is_near_the_nearest_gets_it() {
    let ground = Ground::new().await;
    let running = ground.start().await;
    let (mut one, mut two) = two_agents(&running).await;
    running.add_seeds(&[NORTH]).await;
    let order = one.orders(&running).await.remove(0);
    one.measured(&running, &order, 70_000).await;
    let order = two.orders(&running).await.remove(0);
    two.measured(&running, &order, 90_000).await;
    assert_eq!(one.routes(&running).await[0].url, NORTH);
    let held = store::delegations::list_active(ground.store()).await.unwrap();
    assert_eq!(held[2].reason, Reason::Lowest);
    running.stop().await;
}

#[tokio::test]
async fn an_agent_that_carries_out_no_probes_is_asked_when_it_does() {
    let ground = Ground::new().await;
    let running = ground.start().await;
    let (mut one, mut two) = two_agents(&running).await;
    running.add_seeds(&[NORTH]).await;
    let dropped = one.orders(&running).await.remove(0);
    let idle = HeartbeatRequest { takes_probes: false, ..one.heartbeat_request(0) };
    let answer = one.post(&running, "heartbeat", &idle).await;
    assert_eq!(answer.json::<HeartbeatResponse>().await.unwrap().probes, []);
    // The search does not wait for it, but does not take it for one that got no answer either.
    let order = two.orders(&running).await.remove(0);
    two.measured(&running, &order, 80_000).await;
    let order = one.orders(&running).await.remove(0);
    assert!(order.probe != dropped.probe && order.address == dropped.address);
    one.measured(&running, &order, 12_000).await;
    assert_eq!(one.routes(&running).await[0].url, NORTH);
    running.stop().await;
}

#[tokio::test]
async fn a_host_that_nobody_reaches_is_tried_again() {
    let ground = Ground::new().await;
    let running = ground.start().await;
    let (mut one, mut two) = two_agents(&running).await;
    running.add_seeds(&[NORTH]).await;
    let refused = || ProbeResult::Refused { reason: "the owner says no".into() };
    let order = one.orders(&running).await.remove(0);
    one.report(&running, &order, refused()).await;
    let order = two.orders(&running).await.remove(0);
    two.report(&running, &order, ProbeResult::Unreachable { reason: "no route".into() }).await;
    until("the host waits for another try", || async {
        let searches = store::searches::undelegated_subnets(ground.store()).await.unwrap();
        let later = running.coordinator.now().plus_ms(3_600_000);
        let waiting = store::hosts::waiting_for_agent(ground.store(), HostId::new(0), 10, later)
            .await
            .unwrap();
        searches.is_empty() && waiting.len() == 1
    })
    .await;
    running.stop().await;
}

#[tokio::test]
async fn pages_of_hosts_that_are_not_the_agents_are_left_out() {
    let ground = Ground::new().await;
    let running = ground.start().await;
    let (mut one, two) = two_agents(&running).await;
    running.add_seeds(&["http://127.0.0.1/"]).await;
    assert_eq!(one.routes(&running).await[0].url, "http://127.0.0.1/", "its own home");
    let entries = [page("http://127.0.0.1/", "Mine", "genuine")];
    two.ship_well(
        &running,
        1,
        two.package(1, &[page("http://127.0.0.1/", "Not mine", "counterfeit")]),
    )
    .await;
    one.ship_well(&running, 1, one.package(1, &entries)).await;
    until("the genuine page is found", || ready(!hits(&running, "genuine").is_empty())).await;
    until("both are ingested", || async {
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
    assert!(hits(&running, "counterfeit").is_empty());
    running.stop().await;
}
