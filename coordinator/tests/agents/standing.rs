//! An admin's order reaches the agent at once.

use std::time::{Duration, Instant};

use coordinator::placement::agent_administration::AgentAction;
use model::AgentState;
use protocol::Presence;
use region::relay::RelayRequest;
use reqwest::StatusCode;
use store::agents;

use crate::agent::{FakeAgent, now, problem};
use crate::world::{Ground, until};

#[tokio::test]
async fn approval_and_pause_end_a_heartbeat_that_is_held() {
    let ground = Ground::new().await;
    let running = ground.start().await;
    running.until_hierarchy_is_loaded().await;
    let mut agent = FakeAgent::enrol(&running, 1).await;
    let id = agent.id;
    let begun = Instant::now();
    let (answer, ()) =
        tokio::join!(agent.heartbeat(&running, 20_000), running.order(id, AgentAction::Approve));
    assert_eq!(answer.state, AgentState::Approved);
    let (answer, ()) =
        tokio::join!(agent.heartbeat(&running, 20_000), running.order(id, AgentAction::Pause));
    assert_eq!(answer.state, AgentState::Paused);
    assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
    running.stop().await;
}

#[tokio::test]
async fn a_clock_that_is_wrong_is_noted_until_it_is_right() {
    let ground = Ground::new().await;
    let running = ground.start().await;
    let agent = FakeAgent::enrol(&running, 1).await;
    for (off_ms, is_noted) in [(-7_200_000, true), (3_600_000, true), (0, false)] {
        let mut request = agent.heartbeat_request(0);
        request.agent_time = request.agent_time.plus_ms(off_ms);
        assert_eq!(agent.post(&running, "heartbeat", &request).await.status(), StatusCode::OK);
        let shown = agents::find(ground.store(), agent.id).await.unwrap().unwrap();
        assert_eq!(shown.clock_off_ms.is_some(), is_noted);
        let error_ms = shown.clock_off_ms.map_or(0, |noted| (noted - off_ms).abs());
        assert!(error_ms < 60_000, "{:?} instead of {off_ms}", shown.clock_off_ms);
    }
    running.stop().await;
}

#[tokio::test]
async fn a_revoked_agent_is_refused_at_once_with_its_old_session() {
    let ground = Ground::new().await;
    let running = ground.start().await;
    running.until_hierarchy_is_loaded().await;
    let agent = FakeAgent::enrol(&running, 1).await;
    running.order(agent.id, AgentAction::Approve).await;
    assert_eq!(
        running.coordinator.delegated().unwrap().delegation_table().len(),
        1,
        "its home is its own"
    );
    running.order(agent.id, AgentAction::Revoke).await;
    assert!(running.coordinator.delegated().unwrap().delegation_table().is_empty());
    let (status, name, _) =
        problem(agent.post(&running, "heartbeat", &agent.heartbeat_request(0)).await).await;
    assert_eq!((status, name.as_str()), (StatusCode::FORBIDDEN, "revoked"));
    let (status, ..) = problem(agent.ship(&running, 1, agent.package(1, &[])).await).await;
    assert_eq!(status, StatusCode::FORBIDDEN);
    running.stop().await;
}

#[tokio::test]
async fn an_agent_that_was_approved_before_the_hierarchy_was_loaded_gets_its_home_later() {
    let ground = Ground::bare().await;
    let running = ground.start().await;
    let agent = FakeAgent::enrol(&running, 1).await;
    running.order(agent.id, AgentAction::Approve).await;
    assert!(running.coordinator.delegated().is_none());
    crate::world::load(ground.store(), &crate::world::hierarchy()).await;
    until("its home is its own", || {
        let book_len = running
            .coordinator
            .delegated()
            .map_or(0, |delegated| delegated.delegation_table().len());
        std::future::ready(book_len == 1)
    })
    .await;
    running.stop().await;
}

#[tokio::test]
async fn a_sleeping_agent_is_answered_at_once_and_gets_nothing() {
    let ground = Ground::new().await;
    let running = ground.start().await;
    running.until_hierarchy_is_loaded().await;
    let agent = FakeAgent::enrol(&running, 1).await;
    running.order(agent.id, AgentAction::Approve).await;
    let mut request = agent.heartbeat_request(20_000);
    request.state = AgentState::Approved;
    request.status.presence = Presence::Asleep { until: now().plus_ms(3_600_000) };
    let begun = Instant::now();
    assert_eq!(agent.post(&running, "heartbeat", &request).await.status(), StatusCode::OK);
    assert!(begun.elapsed() < Duration::from_secs(10));
    request.routes_after = 12;
    let (status, name, _) = problem(agent.post(&running, "heartbeat", &request).await).await;
    assert_eq!((status, name.as_str()), (StatusCode::CONFLICT, "routes-never-made"));
    running.stop().await;
}

#[tokio::test]
async fn a_paused_agent_is_still_heard_in_its_region() {
    let ground = Ground::new().await;
    let running = ground.start().await;
    running.until_hierarchy_is_loaded().await;
    let agent = FakeAgent::approved(&running, 1).await;
    let call = || async {
        let body = postcard::to_allocvec(&RelayRequest::default()).unwrap();
        let url = format!("{}/api/v1/agent/region", running.base);
        agent.client.post(url).bearer_auth(&agent.token).body(body).send().await.unwrap().status()
    };
    running.order(agent.id, AgentAction::Pause).await;
    assert_eq!(call().await, StatusCode::OK);
    running.order(agent.id, AgentAction::Revoke).await;
    assert_eq!(call().await, StatusCode::FORBIDDEN);
    running.stop().await;
}
