//! Explanations of delegations, probe by probe.

use protocol::ProbeResult;
use serde_json::{Value, json};
use store::testing::execute;

use crate::agents::{NORTH, crawl_north, two_agents};
use crate::browser::Browser;
use crate::world::Ground;

async fn explanation_of(browser: &Browser, place: usize) -> Value {
    let list = browser.read("/api/v1/delegations").await;
    let id = list["items"][place]["id"].as_str().unwrap().to_owned();
    browser.read(&format!("/api/v1/delegations/{id}/explanation")).await
}

fn key_fields(probe: &Value) -> (Value, Value, Value, Value) {
    let field = |name: &str| probe[name].clone();
    (field("order"), probe["agent"]["name"].clone(), field("verdict"), field("chosen"))
}

#[tokio::test]
async fn an_agent_under_the_threshold() {
    let ground = Ground::new().await;
    let running = ground.start().await;
    let browser = Browser::signed_in(&ground, &running).await;
    let (mut one, mut two) = two_agents(&running).await;
    crawl_north(&running, &mut one, &mut two).await;
    let explanation = explanation_of(&browser, 0).await;
    assert_eq!(explanation["target"], json!({ "address": "198.51.100.1", "host": "198.51.100.1" }));
    assert_eq!(
        (&explanation["threshold_ms"], &explanation["strategy"], &explanation["open"]),
        (&json!(50.0), &json!("predictive"), &json!(false))
    );
    let probes = explanation["trail"].as_array().unwrap();
    assert_eq!(
        key_fields(&probes[0]),
        (json!(1), json!("agent 1"), json!("too_slow"), json!(false))
    );
    assert_eq!(
        key_fields(&probes[1]),
        (json!(2), json!("agent 2"), json!("satisfies"), json!(true))
    );
    let chosen = &probes[1];
    let expected = json!({
        "rtt_ms": 12.345, "method": "tcp", "samples": 3, "threshold_ms": 50.0, "error": null,
    });
    for (field, value) in expected.as_object().unwrap() {
        assert_eq!(&chosen[field], value, "{field}");
    }
    assert!(chosen["asked_at"].as_str() <= chosen["answered_at"].as_str());
    assert!(chosen["level"].as_str().is_some_and(|level| level.contains('/')));
    let chain = explanation["chain"].as_array().unwrap();
    assert_eq!(
        (&chain[0]["kind"], &chain.last().unwrap()["subnet"]),
        (&json!("root"), &json!("198.51.100.0/26"))
    );
    assert_eq!(chain.last().unwrap()["delegated_to"]["name"], "agent 2");
    let summary = explanation["summary"].as_str().unwrap();
    let begin = "agent 2 crawls 198.51.100.0/26 because it was the first agent under the threshold \
                 of 50 ms. It measured 12.3 ms to 198.51.100.1 by TCP connect. One agent was asked \
                 before it: 1 too slow. The best of them was agent 1 with ";
    assert!(summary.starts_with(begin), "{summary}");
    assert_eq!(
        explanation["delegation"],
        browser
            .read(&format!(
                "/api/v1/delegations/{}",
                explanation["delegation"]["id"].as_str().unwrap()
            ))
            .await
    );
    running.stop().await;
}

#[tokio::test]
async fn no_agent_under_the_threshold_and_one_that_refuses() {
    let ground = Ground::new().await;
    let running = ground.start().await;
    let browser = Browser::signed_in(&ground, &running).await;
    let (mut one, mut two) = two_agents(&running).await;
    running.add_seeds(&[NORTH]).await;
    let order = one.orders(&running).await.remove(0);
    one.report(&running, &order, ProbeResult::Refused { reason: "the owner forbids it".into() })
        .await;
    let order = two.orders(&running).await.remove(0);
    two.measured(&running, &order, 90_000).await;
    assert_eq!(two.routes(&running).await[0].url, NORTH);
    let explanation = explanation_of(&browser, 0).await;
    let probes = explanation["trail"].as_array().unwrap();
    assert_eq!(
        key_fields(&probes[0]),
        (json!(1), json!("agent 1"), json!("unreachable"), json!(false))
    );
    assert_eq!(
        (&probes[0]["error"], &probes[0]["rtt_ms"]),
        (&json!("the owner forbids it"), &Value::Null)
    );
    assert_eq!(
        key_fields(&probes[1]),
        (json!(2), json!("agent 2"), json!("too_slow"), json!(true))
    );
    let summary = explanation["summary"].as_str().unwrap();
    let begin = "agent 2 crawls 198.51.100.0/26 because no agent was under the threshold of 50 ms \
                 and its round trip was the lowest. It measured 90.0 ms to 198.51.100.1 by TCP \
                 connect. One agent was asked besides: 1 could not measure it. ";
    assert!(summary.starts_with(begin), "{summary}");
    running.stop().await;
}

#[tokio::test]
async fn a_home_delegation() {
    let ground = Ground::new().await;
    let running = ground.start().await;
    let browser = Browser::signed_in(&ground, &running).await;
    two_agents(&running).await;
    let explanation = explanation_of(&browser, 0).await;
    assert_eq!(
        (&explanation["trail"], &explanation["threshold_ms"], &explanation["opened_at"]),
        (&json!([]), &Value::Null, &Value::Null)
    );
    assert_eq!(explanation["target"], json!({ "address": null, "host": null }));
    assert_eq!(
        explanation["summary"],
        "agent 2 crawls 127.0.0.2/32 because its own address, 127.0.0.2, lies in it. A home subnet \
         needs no probe."
    );
    running.stop().await;
}

#[tokio::test]
async fn an_absent_agent_is_named() {
    let ground = Ground::new().await;
    let running = ground.start().await;
    let browser = Browser::signed_in(&ground, &running).await;
    let (mut one, _two) = two_agents(&running).await;
    ground.forget_downtime().await;
    let gone = "UPDATE agents SET last_heartbeat_at = now() - interval '3 days',
                    approved_at = now() - interval '4 days'
                WHERE name = 'agent 2'";
    assert_eq!(execute(ground.store(), gone).await.unwrap(), 1);
    running.add_seeds(&[NORTH]).await;
    let order = one.orders(&running).await.remove(0);
    one.measured(&running, &order, 90_000).await;
    assert_eq!(one.routes(&running).await[0].url, NORTH);
    let explanation = explanation_of(&browser, 0).await;
    assert_eq!(explanation["skipped"][0]["reason"], "absent");
    assert_eq!(explanation["skipped"][0]["agent"]["name"], "agent 2");
    assert_eq!(explanation["skipped"].as_array().unwrap().len(), 1);
    let summary = explanation["summary"].as_str().unwrap();
    let named = "The search skipped agent 2 because it had not been heard of for more than a day.";
    assert!(summary.contains(named), "{summary}");
    running.stop().await;
}
