//! An owner ends the agent: its hosts go to others, and it is deregistered.

use coordinator::placement::agent_administration::{AgentAction, administer};
use model::AgentState;
use protocol::heartbeat::HeartbeatResponse;
use protocol::leave::{LeaveRequest, LeaveResponse};
use protocol::version;
use reqwest::StatusCode;
use store::agents::OrderOutcome;
use store::testing::execute;

use crate::agent::{FakeAgent, page, problem};
use crate::world::{Ground, Running, until};

async fn leave(agent: &FakeAgent, running: &Running, done: bool) -> LeaveResponse {
    let request = LeaveRequest { protocol: version::CURRENT, done };
    let response = agent.post(running, "leave", &request).await;
    assert_eq!(response.status(), StatusCode::OK);
    response.json().await.unwrap()
}

#[tokio::test]
async fn an_agent_that_leaves_hands_its_hosts_over_and_is_forgotten() {
    let ground = Ground::new().await;
    let running = ground.start().await;
    let mut agent = FakeAgent::crawling(&running).await;
    agent.heartbeat(&running, 0).await;
    let begun = leave(&agent, &running, false).await;
    assert_eq!(begun, LeaveResponse { hosts_left: 1, state: AgentState::Paused });
    assert!(running.coordinator.delegated().unwrap().delegation_table().is_empty());
    assert_eq!(leave(&agent, &running, false).await, begun, "it may be asked again");

    let orders = agent.heartbeat(&running, 0).await.host_orders;
    agent.orders_done = orders.iter().map(|order| order.number).collect();
    agent.heartbeat(&running, 0).await;
    assert_eq!(leave(&agent, &running, false).await.hosts_left, 0);
    let left = leave(&agent, &running, true).await;
    assert_eq!(left, LeaveResponse { hosts_left: 0, state: AgentState::Revoked });
    let again = LeaveRequest { protocol: version::CURRENT, done: true };
    let (status, name, _) = problem(agent.post(&running, "leave", &again).await).await;
    assert_eq!((status, name.as_str()), (StatusCode::FORBIDDEN, "revoked"));
    running.stop().await;
}

#[tokio::test]
async fn an_agent_that_leaves_gets_no_work_again_and_keeps_none() {
    let ground = Ground::new().await;
    let running = ground.start().await;
    let agent = FakeAgent::crawling(&running).await;
    leave(&agent, &running, false).await;
    let placement = &running.coordinator.placement;
    let resumed = administer(placement, agent.id, AgentAction::Resume, "admin").await.unwrap();
    assert_eq!(resumed, Some(OrderOutcome::Leaving));
    // A decision that was on its way when the agent began to leave.
    let late = "UPDATE delegations SET ended_at = NULL";
    execute(ground.store(), late).await.unwrap();
    assert_eq!(store::delegations::list_active(ground.store()).await.unwrap().len(), 1);
    leave(&agent, &running, true).await;
    assert_eq!(store::delegations::list_active(ground.store()).await.unwrap(), []);
    running.stop().await;
}

#[tokio::test]
async fn the_next_agent_gets_all_pages_of_a_host_that_was_not_handed_over() {
    let ground = Ground::new().await;
    let running = ground.start().await;
    let mut agent = FakeAgent::approved(&running, 1).await;
    let front = "http://198.51.100.7/";
    running.add_seeds(&[front]).await;
    let order = agent.orders(&running).await.remove(0);
    agent.measured(&running, &order, 5_000).await;
    assert_eq!(agent.routes(&running).await[0].url, front);
    let mut pages = vec![front.to_owned()];
    pages.extend(["one", "two"].map(|name| format!("{front}{name}")));
    let entries: Vec<_> = pages.iter().map(|url| page(url, "tree", "leaves")).collect();
    let package = agent.package(1, &entries);
    agent.ship_well(&running, 1, package).await;
    // Counted after they were indexed.
    let counted = "SELECT FROM hosts WHERE pages = 3";
    until("they are indexed", async || execute(ground.store(), counted).await.unwrap() == 1).await;
    leave(&agent, &running, false).await;
    let orders = agent.heartbeat(&running, 0).await.host_orders;
    agent.orders_done = orders.iter().map(|order| order.number).collect();
    agent.heartbeat(&running, 0).await;

    let mut next = FakeAgent::approved(&running, 2).await;
    let order = next.orders(&running).await.remove(0);
    next.measured(&running, &order, 5_000).await;
    let mut routed = Vec::new();
    while routed.len() < pages.len() {
        routed.extend(next.routes(&running).await.into_iter().map(|route| route.url));
    }
    routed.sort();
    assert_eq!(routed, pages);
    let is_left = "SELECT FROM lost_hosts";
    until("the host is done", async || execute(ground.store(), is_left).await.unwrap() == 0).await;
    running.stop().await;
}

#[tokio::test]
async fn an_agent_that_was_never_approved_leaves_at_once() {
    let ground = Ground::bare().await;
    let running = ground.start().await;
    let agent = FakeAgent::enrol(&running, 1).await;
    assert_eq!(leave(&agent, &running, false).await.state, AgentState::Revoked);
    running.stop().await;
}

#[tokio::test]
async fn the_lease_waits_for_orders_to_be_accepted_and_not_for_their_execution() {
    let ground = Ground::new().await;
    let running = ground.start().await;
    let agent = FakeAgent::crawling(&running).await;
    let hosts = "INSERT INTO hosts (scheme, authority, state, address, first, last, agent)
        SELECT 'http', 'h' || n || '.example', 'delegated', '192.0.2.9', '192.0.2.0',
               '192.0.2.255', 1
        FROM generate_series(1, 1200) AS n";
    execute(ground.store(), hosts).await.unwrap();
    let hosts_left = leave(&agent, &running, false).await.hosts_left;
    assert_eq!(hosts_left, 1_201);

    let mut request = agent.heartbeat_request(0);
    for (named, has_lease) in [(1_000, false), (201, true), (0, true)] {
        let response = agent.post(&running, "heartbeat", &request).await;
        let answer: HeartbeatResponse = response.json().await.unwrap();
        assert_eq!(answer.host_orders.len(), named);
        assert_eq!(answer.lease_ms > 0, has_lease, "with {named} orders");
        request.orders_accepted.extend(answer.host_orders.iter().map(|order| order.number));
    }
    // After a crash the agent does not know what it accepted.
    request.orders_accepted.clear();
    let response = agent.post(&running, "heartbeat", &request).await;
    let answer: HeartbeatResponse = response.json().await.unwrap();
    assert_eq!((answer.host_orders.len(), answer.lease_ms), (1_000, 0));
    running.stop().await;
}
