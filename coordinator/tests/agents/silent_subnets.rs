//! Subnets whose hosts answer no probe.

use std::net::IpAddr;

use coordinator::search::drive_searches;
use protocol::{HeartbeatRequest, ProbeResult};
use store::testing::execute;

use crate::agent::FakeAgent;
use crate::predict::{add_seeds, address, approved, change, hierarchy, searched};
use crate::world::{Ground, Running, load, until};

/// Subnets in which nothing answers; more than searches that two agents can have at a time.
const SILENT: u32 = 8;

/// The agent reports on the orders that come, until it has measured `answers`, the only address
/// that it reaches.
async fn work(running: &Running, agent: &mut FakeAgent, answers: IpAddr) {
    loop {
        for order in agent.orders(running).await {
            if order.address == answers {
                agent.measured(running, &order, 9_000).await;
                return;
            }
            let result = ProbeResult::Unreachable { reason: "no answer".into() };
            agent.report(running, &order, result).await;
        }
    }
}

#[tokio::test]
async fn searches_that_wait_for_an_agent_leave_room_for_others() {
    let ground = Ground::bare().await;
    load(ground.store(), &hierarchy()).await;
    let running = ground.start().await;
    let mut agents = approved(&running, 1..=2).await;
    change(&running, |policy| policy.patience_ms = 1_000).await;
    // The second agent carries out no probes, so that no search of a silent subnet can end.
    let idle = HeartbeatRequest { takes_probes: false, ..agents[1].heartbeat_request(0) };
    agents[1].post(&running, "heartbeat", &idle).await;
    add_seeds(&running, 0..=SILENT).await;
    let last = IpAddr::from(address(SILENT));
    work(&running, &mut agents[0], last).await;
    until("the subnet that answers is delegated", || async {
        searched(&ground).await.iter().any(|held| held.subnet.contains(last))
    })
    .await;
    running.stop().await;
}

/// Over a weekend without a coordinator, nobody was asked.
#[tokio::test]
async fn a_search_does_not_end_for_downtime() {
    let ground = Ground::bare().await;
    load(ground.store(), &hierarchy()).await;
    let running = ground.start().await;
    let mut agents = approved(&running, 1..=2).await;
    let idle = HeartbeatRequest { takes_probes: false, ..agents[1].heartbeat_request(0) };
    agents[1].post(&running, "heartbeat", &idle).await;
    add_seeds(&running, 0..=0).await;
    let order = agents[0].orders(&running).await.remove(0);
    let result = ProbeResult::Unreachable { reason: "no answer".into() };
    agents[0].report(&running, &order, result).await;
    let days_ago = "UPDATE searches SET opened_at = opened_at - interval '3 days'";
    assert_eq!(execute(ground.store(), days_ago).await.unwrap(), 1);
    advance(&running).await;
    let open = "UPDATE searches SET state = state WHERE state = 'open'";
    assert_eq!(execute(ground.store(), open).await.unwrap(), 1);

    ground.forget_downtime().await;
    advance(&running).await;
    assert_eq!(execute(ground.store(), open).await.unwrap(), 0);
    running.stop().await;
}

/// One round of all open searches.
async fn advance(running: &Running) {
    drive_searches::run(&running.coordinator.search).await.unwrap();
}
