//! Drains: preview, progress, end, and what happens at the deadline.

use coordinator::placement::agent_administration::AgentAction;
use coordinator::placement::drain_agents;
use model::AgentId;
use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::agent::FakeAgent;
use crate::agents::{NORTH, crawl_north, two_agents};
use crate::browser::Browser;
use crate::world::{Ground, Running, until};

const SUBNET: &str = "198.51.100.0/26";

async fn agent(browser: &Browser, id: AgentId) -> Value {
    browser.read(&format!("/api/v1/agents/{id}")).await
}

async fn held(browser: &Browser, query: &str) -> Vec<(String, String)> {
    let page = browser.read(&format!("/api/v1/delegations?{query}")).await;
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let items = page["items"].as_array().unwrap().iter();
    items.map(|item| (text(&item["subnet"]), text(&item["reason"]))).collect()
}

/// Heartbeats and executes the orders about hosts, until the agent is drained.
async fn until_drained(running: &Running, browser: &Browser, agent_two: &mut FakeAgent) {
    let id = agent_two.id;
    for _ in 0..200 {
        drain_agents::run(&running.coordinator.placement).await.unwrap();
        let answer = agent_two.heartbeat(running, 50).await;
        agent_two.orders_done = answer.host_orders.iter().map(|order| order.number).collect();
        if agent(browser, id).await["drain"]["state"] == "drained" {
            return;
        }
    }
    panic!("the agent was not drained: {}", agent(browser, id).await);
}

#[tokio::test]
async fn a_drained_agent_gives_its_subnets_and_hosts_away_and_may_return() {
    let ground = Ground::new().await;
    let running = ground.start().await;
    let browser = Browser::signed_in(&ground, &running).await;
    let (mut one, mut two) = two_agents(&running).await;
    crawl_north(&running, &mut one, &mut two).await;

    let takeover = browser.read(&format!("/api/v1/agents/{}/takeover", two.id)).await;
    assert_eq!(takeover["held"], 2);
    let moves = takeover["preview"]["reassignments"].as_array().unwrap();
    let north = moves.iter().find(|moved| moved["subnet"] == SUBNET).unwrap();
    assert_eq!((&north["to"]["id"], &north["cost_after_ms"]), (&json!(one.id), &json!(80.0)));
    let home = moves.iter().find(|moved| moved["subnet"] == "127.0.0.2/32").unwrap();
    assert_eq!(home["to"], Value::Null, "nobody has measured it");
    assert_eq!(agent(&browser, two.id).await["drain"], Value::Null, "nothing was changed");
    let measured = browser.read("/api/v1/measured-agents?range=198.51.100.0/24").await;
    let names: Vec<&Value> =
        measured["items"].as_array().unwrap().iter().map(|item| &item["agent"]["name"]).collect();
    assert_eq!(names, ["agent 2", "agent 1"], "the nearest first");

    let path = format!("/api/v1/agents/{}/drain", two.id);
    let begun = browser.post(&path, json!({})).await.well();
    assert_eq!(begun["drain"]["requested_by"], "admin");
    assert_eq!(
        (&begun["drain"]["subnets_at_request"], &begun["drain"]["hosts_at_request"]),
        (&json!(2), &json!(1))
    );
    until_drained(&running, &browser, &mut two).await;
    assert_eq!(held(&browser, &format!("q={SUBNET}")).await, [(SUBNET.into(), "drained".into())]);
    assert_eq!(held(&browser, &format!("agent={}", two.id)).await, []);
    assert_eq!(agent(&browser, one.id).await["hosts"], 1);
    let page = browser.read(&format!("/api/v1/delegations?q={SUBNET}")).await;
    let id = page["items"][0]["id"].as_str().unwrap();
    let why = browser.read(&format!("/api/v1/delegations/{id}/explanation")).await;
    assert!(why["summary"].as_str().unwrap().contains("admin drained its former agent"), "{why}");

    let pin = json!({ "scope": { "range": SUBNET }, "agent": two.id, "reason": "r" });
    let refused = browser.post("/api/v1/pins", pin).await;
    refused.problem(StatusCode::UNPROCESSABLE_ENTITY, "invalid-fields");
    assert_eq!(browser.delete(&path).await.well()["drain"], Value::Null);
    browser.delete(&path).await.problem(StatusCode::CONFLICT, "conflict");
    until("its home is its own again", || async {
        held(&browser, &format!("agent={}", two.id)).await
            == [("127.0.0.2/32".to_owned(), "home".to_owned())]
    })
    .await;
    let log = browser.read(&format!("/api/v1/audit/entries?subject={}", two.id)).await;
    let actions: Vec<&Value> =
        log["items"].as_array().unwrap().iter().map(|entry| &entry["action"]).take(3).collect();
    assert_eq!(actions, ["agent.end_drain", "agent.drained", "agent.drain"]);
    running.stop().await;
}

#[tokio::test]
async fn a_revoked_agent_is_not_listed_with_what_it_measured() {
    let ground = Ground::new().await;
    let running = ground.start().await;
    let browser = Browser::signed_in(&ground, &running).await;
    let (mut one, mut two) = two_agents(&running).await;
    crawl_north(&running, &mut one, &mut two).await;
    browser.post(&format!("/api/v1/agents/{}/revoke", one.id), json!({})).await.well();
    let measured = browser.read("/api/v1/measured-agents?range=198.51.100.0/24").await;
    let left = measured["items"].as_array().unwrap();
    assert_eq!(left.len(), 1, "{measured}");
    assert_eq!((&left[0]["agent"]["id"], &left[0]["state"]), (&json!(two.id), &json!("approved")));
    running.stop().await;
}

#[tokio::test]
async fn at_the_deadline_the_rest_is_taken_from_the_agent() {
    let ground = Ground::new().await;
    let running = ground.start().await;
    let browser = Browser::signed_in(&ground, &running).await;
    running.until_hierarchy_is_loaded().await;
    let mut only = FakeAgent::enrol(&running, 1).await;
    running.order(only.id, AgentAction::Approve).await;
    only.heartbeat(&running, 0).await;
    running.add_seeds(&[NORTH]).await;
    let order = only.orders(&running).await.remove(0);
    only.measured(&running, &order, 9_000).await;
    only.routes(&running).await;

    let path = format!("/api/v1/agents/{}/drain", only.id);
    browser.post(&path, json!({})).await.well();
    until("its home has no hosts and is released", || async {
        held(&browser, &format!("agent={}", only.id)).await.len() == 1
    })
    .await;
    assert_eq!(
        agent(&browser, only.id).await["drain"]["state"],
        "draining",
        "nobody else is there"
    );
    browser.post(&path, json!({ "deadline_after_s": 1 })).await.well();
    until_drained(&running, &browser, &mut only).await;
    let host = browser.read("/api/v1/hosts").await["items"][0].clone();
    assert_eq!((&host["state"], &host["agent"]), (&json!("resolved"), &Value::Null));
    running.stop().await;
}

#[tokio::test]
async fn drains_that_make_no_sense_are_refused() {
    let ground = Ground::new().await;
    let running = ground.start().await;
    let browser = Browser::signed_in(&ground, &running).await;
    running.until_hierarchy_is_loaded().await;
    let pending = FakeAgent::enrol(&running, 1).await;
    let path = |id: &str| format!("/api/v1/agents/{id}/drain");
    let id = pending.id.to_string();
    browser.post(&path(&id), json!({})).await.problem(StatusCode::CONFLICT, "conflict");
    browser.post(&path("agt_99"), json!({})).await.problem(StatusCode::NOT_FOUND, "not-found");
    browser
        .post(&path(&id), json!({ "deadline_after_s": 0 }))
        .await
        .problem(StatusCode::UNPROCESSABLE_ENTITY, "invalid-fields");
    browser
        .get("/api/v1/measured-agents?range=nowhere")
        .await
        .problem(StatusCode::BAD_REQUEST, "bad-request");
    let viewer = Browser::signed_in_as_viewer(&browser, &running).await;
    viewer.post(&path(&id), json!({})).await.problem(StatusCode::FORBIDDEN, "not-an-admin");
    viewer.read(&format!("/api/v1/agents/{id}/takeover")).await;
    running.stop().await;
}
