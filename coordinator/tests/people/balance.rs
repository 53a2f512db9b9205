//! Balance with two agents: relief, the pass, and what the audit says meanwhile.

use coordinator::runtime::events::Event;
use reqwest::StatusCode;
use serde_json::{Value, json};
use store::testing::execute;

use crate::agent::FakeAgent;
use crate::agents::two_agents;
use crate::browser::Browser;
use crate::world::{Ground, Running, until};

/// One host each of three subnets that both agents measure.
const SEEDS: [&str; 3] = ["http://198.51.100.1/", "http://198.51.100.130/", "http://203.0.113.1/"];

/// Nobody is near enough, so that both measure everything; agent 2 is nearer and gets it all.
async fn delegate_all(
    running: &Running,
    browser: &Browser,
    one: &mut FakeAgent,
    two: &mut FakeAgent,
) {
    execute(
        &running.coordinator.store,
        "UPDATE policy SET threshold_us = 1, strategy = 'threshold'",
    )
    .await
    .unwrap();
    running.coordinator.policy.refresh().await.unwrap();
    running.add_seeds(&SEEDS).await;
    // Its home and all seeds. Agents are also asked to measure each other's homes.
    while held_by(browser, two).await <= SEEDS.len() {
        for (agent, rtt_us) in [(&mut *one, 80_000), (&mut *two, 12_000)] {
            for order in agent.heartbeat(running, 100).await.probes {
                agent.measured(running, &order, rtt_us).await;
            }
        }
    }
}

async fn held_by(browser: &Browser, agent: &FakeAgent) -> usize {
    let list = browser.read(&format!("/api/v1/delegations?agent={}", agent.id)).await;
    list["items"].as_array().unwrap().len()
}

async fn kinds(browser: &Browser) -> Vec<Value> {
    let found = browser.read("/api/v1/audit/findings").await;
    found["items"].as_array().unwrap().iter().map(|item| item["kind"].clone()).collect()
}

#[tokio::test]
async fn an_overloaded_agent_is_relieved_and_a_pass_reverses_the_moves() {
    let ground = Ground::new().await;
    let running = ground.start().await;
    let browser = Browser::signed_in(&ground, &running).await;
    let store = &running.coordinator.store;
    execute(store, "UPDATE policy SET balance_rule = 'off', balance_pass = 'off'").await.unwrap();
    let (mut one, mut two) = two_agents(&running).await;
    delegate_all(&running, &browser, &mut one, &mut two).await;

    // Its home and one more is what it can do; nobody acts yet, but the audit sees it.
    let small = "UPDATE agents SET capacity_pages_per_day = 2 WHERE name = 'agent 2'";
    execute(store, small).await.unwrap();
    running.coordinator.events.emit(Event::DelegationsChanged);
    until("the audit sees it", || async { kinds(&browser).await == ["over_capacity"] }).await;
    assert_eq!(browser.read("/api/v1/moves").await["items"], json!([]));

    execute(store, "UPDATE policy SET balance_rule = 'variance'").await.unwrap();
    running.coordinator.events.emit(Event::BalancePolicyChanged);
    until("it is relieved", || async { held_by(&browser, &two).await == 2 }).await;
    until("the audit is content", || async { kinds(&browser).await.is_empty() }).await;
    let moves = browser.read("/api/v1/moves").await["items"].clone();
    assert_eq!(moves.as_array().unwrap().len(), 2);
    let made = &moves[0];
    assert_eq!(
        (&made["from"]["name"], &made["to"]["name"]),
        (&json!("agent 2"), &json!("agent 1"))
    );
    assert_eq!((&made["cost_before_ms"], &made["cost_after_ms"]), (&json!(12.0), &json!(80.0)));
    assert_eq!((&made["rule"], &made["pages_per_day"]), (&json!("variance"), &json!(1)));
    let id = made["delegation"].as_str().unwrap();
    let explanation = browser.read(&format!("/api/v1/delegations/{id}/explanation")).await;
    let summary = explanation["summary"].as_str().unwrap();
    assert!(summary.contains("because agent 2 was over its capacity"), "{summary}");
    assert!(summary.contains("costs 80.0 ms per day instead of 12.0 ms"), "{summary}");

    // Room again: a pass finds the cheapest plan, as far as the moves of the day go.
    execute(store, "UPDATE agents SET capacity_pages_per_day = 1000 WHERE name = 'agent 2'")
        .await
        .unwrap();
    let modest = "UPDATE policy SET balance_rule = 'off', balance_moves_per_day = 1,
                  balance_least_gain_ms = 60";
    execute(store, modest).await.unwrap();
    let dry = browser.post("/api/v1/balance?dry_run=true", Value::Null).await.well();
    assert_eq!(
        (dry["moves"].as_array().unwrap().len(), &dry["remaining_moves"], &dry["moved"]),
        (1, &json!(1), &json!(0))
    );
    assert_eq!((&dry["cost_before_ms"], &dry["cost_optimal_ms"]), (&json!(172.0), &json!(36.0)));
    assert_eq!(held_by(&browser, &two).await, 2, "nothing was changed");
    let done = browser.post("/api/v1/balance", Value::Null).await.well();
    assert_eq!((&done["moved"], &done["cost_after_ms"]), (&json!(1), &json!(104.0)));
    assert_eq!(held_by(&browser, &two).await, 3);
    let spent = browser.post("/api/v1/balance", Value::Null).await.well();
    assert_eq!(
        (&spent["moves"], &spent["remaining_moves"]),
        (&json!([]), &json!(1)),
        "the moves of the day are used up"
    );
    running.stop().await;
}

#[tokio::test]
async fn pinned_subnets_are_not_moved() {
    let ground = Ground::new().await;
    let running = ground.start().await;
    let browser = Browser::signed_in(&ground, &running).await;
    let store = &running.coordinator.store;
    execute(
        store,
        "UPDATE policy SET balance_rule = 'off', balance_pass = 'off', balance_least_gain_ms = 0",
    )
    .await
    .unwrap();
    let (mut one, mut two) = two_agents(&running).await;
    delegate_all(&running, &browser, &mut one, &mut two).await;
    let pin = json!({ "scope": { "range": "203.0.113.0/24" }, "agent": one.id, "reason": "r" });
    assert_eq!(browser.post("/api/v1/pins", pin).await.status, StatusCode::CREATED);
    until("it is pinned", || async { held_by(&browser, &one).await == 2 }).await;
    let dry = browser.post("/api/v1/balance?dry_run=true", Value::Null).await.well();
    assert_eq!(
        (&dry["moves"], &dry["remaining_moves"]),
        (&json!([]), &json!(0)),
        "it would be nearer to agent 2"
    );
    running.stop().await;
}
