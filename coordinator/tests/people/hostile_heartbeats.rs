//! Extreme values in the heartbeats of an agent that nobody approved harm no page and no order.

use model::UnixMillis;
use protocol::Presence;
use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::agent::FakeAgent;
use crate::browser::Browser;
use crate::world::Ground;

#[tokio::test]
async fn lists_balance_and_revocation_work_whatever_an_agent_sends() {
    let ground = Ground::new().await;
    let running = ground.start().await;
    let browser = Browser::signed_in(&ground, &running).await;
    running.until_hierarchy_is_loaded().await;
    let agent = FakeAgent::enrol(&running, 1).await;
    // The last second of the year 9999, and what an agent without a next span sends.
    for until in [253_402_300_799_000, i64::MAX, i64::MIN] {
        let mut request = agent.heartbeat_request(0);
        request.status.presence = Presence::Asleep { until: UnixMillis(until) };
        request.status.queued = u64::MAX;
        for agent_time in [request.agent_time.0, i64::MIN, i64::MAX] {
            request.agent_time = UnixMillis(agent_time);
            let status = agent.post(&running, "heartbeat", &request).await.status();
            assert_eq!(status, StatusCode::OK, "{until} {agent_time}");
            let listed = browser.read("/api/v1/agents").await;
            assert_eq!(listed["items"][0]["id"], json!(agent.id));
            browser.post("/api/v1/balance?dry_run=true", Value::Null).await.well();
            browser.read("/api/v1/overview").await;
        }
    }
    let revoked = browser.post(&format!("/api/v1/agents/{}/revoke", agent.id), Value::Null).await;
    assert_eq!(revoked.well()["state"], json!("revoked"));
    running.stop().await;
}
