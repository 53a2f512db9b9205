//! Constraints: preview, creation, effect and removal.

use coordinator::placement::agent_administration::AgentAction;
use coordinator::placement::audit::audit_delegations;
use coordinator::runtime::events::Event;
use protocol::ProbeResult;
use reqwest::StatusCode;
use serde_json::{Value, json};
use store::testing::execute;
use tokio::time::timeout;

use crate::agent::FakeAgent;
use crate::agents::{crawl_north, two_agents};
use crate::browser::Browser;
use crate::world::{Ground, PATIENCE, until};

const SUBNET: &str = "198.51.100.0/26";

async fn held(browser: &Browser) -> Value {
    browser.read(&format!("/api/v1/delegations?q={SUBNET}")).await["items"][0].clone()
}

async fn explanation(browser: &Browser) -> Value {
    let id = held(browser).await["id"].as_str().unwrap().to_owned();
    browser.read(&format!("/api/v1/delegations/{id}/explanation")).await
}

async fn until_held(browser: &Browser, agent: &FakeAgent, reason: &str) {
    until("the subnet has changed its agent", || async {
        let held = held(browser).await;
        held["agent"]["id"] == json!(agent.id) && held["reason"] == reason
    })
    .await;
}

fn request(scope: impl Into<Value>, agent: &FakeAgent) -> Value {
    json!({ "scope": scope.into(), "agent": agent.id, "reason": "their contract says so" })
}

#[tokio::test]
async fn a_pin_is_previewed_made_and_removed() {
    let ground = Ground::new().await;
    let running = ground.start().await;
    let browser = Browser::signed_in(&ground, &running).await;
    let (mut one, mut two) = two_agents(&running).await;
    crawl_north(&running, &mut one, &mut two).await;
    let pin = request(json!({ "range": SUBNET }), &one);

    let dry = browser.post("/api/v1/pins?dry_run=true", pin.clone()).await;
    assert_eq!(dry.status, StatusCode::OK);
    let preview = dry.well()["preview"].clone();
    let agents = json!([{ "id": one.id, "name": "agent 1" }, { "id": two.id, "name": "agent 2" }]);
    assert_eq!(
        preview["reassignments"],
        json!([{ "subnet": SUBNET, "from": agents[1], "to": agents[0], "hosts": 1,
                 "pages_per_day": 1,
                 "cost_before_ms": 12.345, "cost_after_ms": 80.0 }])
    );
    assert_eq!(
        preview["agents"],
        json!([{ "agent": agents[0], "capacity": 1000, "load_before": 1, "load_after": 2 },
               { "agent": agents[1], "capacity": 1000, "load_before": 2, "load_after": 1 }])
    );
    assert_eq!(browser.read("/api/v1/pins").await["items"], json!([]), "nothing was changed");
    assert_eq!(held(&browser).await["agent"]["id"], json!(two.id));

    let made = browser.post("/api/v1/pins", pin).await;
    assert_eq!((made.status, &made.well()["preview"]), (StatusCode::CREATED, &preview));
    until_held(&browser, &one, "pinned").await;
    let summary = "agent 1 crawls 198.51.100.0/26 because admin pinned the subnet to it. The \
                   reason given was “their contract says so”. Its last measured round trip was \
                   80.0 ms.";
    assert_eq!(explanation(&browser).await["summary"], summary);
    let id = made.well()["constraint"]["id"].as_str().unwrap().to_owned();
    let removed = browser.delete(&format!("/api/v1/pins/{id}?dry_run=true")).await.well();
    assert_eq!(
        (&removed["preview"]["reassignments"][0]["to"], &removed["constraint"]["ended_at"]),
        (&Value::Null, &Value::Null)
    );
    let removed = browser.delete(&format!("/api/v1/pins/{id}")).await.well();
    assert_eq!(removed["constraint"]["ended_by"], "admin");
    browser.delete(&format!("/api/v1/pins/{id}")).await.problem(StatusCode::NOT_FOUND, "not-found");

    // The search is reopened and finds the nearest agent.
    let order = one.orders(&running).await.remove(0);
    one.measured(&running, &order, 80_000).await;
    let order = two.orders(&running).await.remove(0);
    two.measured(&running, &order, 11_000).await;
    until_held(&browser, &two, "threshold").await;
    running.stop().await;
}

#[tokio::test]
async fn invalid_constraints_are_refused_with_the_reason() {
    let ground = Ground::new().await;
    let running = ground.start().await;
    let browser = Browser::signed_in(&ground, &running).await;
    let (mut one, mut two) = two_agents(&running).await;
    crawl_north(&running, &mut one, &mut two).await;
    let range = json!({ "range": SUBNET });
    let with = |scope: Value, field: &str, value: Value| {
        let mut body = request(scope, &one);
        body[field] = value;
        body
    };
    let invalid = [
        with(json!({ "range": "198.51.100.0/30" }), "reason", json!("r")),
        with(json!({ "range": "nowhere" }), "reason", json!("r")),
        with(json!({ "country": "AQ" }), "reason", json!("r")),
        with(
            json!({ "company": { "registry": "ripencc", "handle": "nobody" } }),
            "reason",
            json!("r"),
        ),
        with(range.clone(), "reason", json!("  ")),
        with(range.clone(), "expires_at", json!("2001-01-01T00:00:00Z")),
        with(range.clone(), "expires_at", json!("tomorrow")),
        with(range.clone(), "agent", json!("agt_999")),
    ];
    for body in invalid {
        let problem = browser.post("/api/v1/pins", body).await;
        problem.problem(StatusCode::UNPROCESSABLE_ENTITY, "invalid-fields");
    }
    browser.post("/api/v1/pins", request(range.clone(), &one)).await.well();
    until_held(&browser, &one, "pinned").await;
    let id = held(&browser).await["id"].as_str().unwrap().to_owned();
    let override_it = format!("/api/v1/delegations/{id}/override");
    let to_two = json!({ "agent": two.id, "reason": "r" });
    for reply in [
        browser.post("/api/v1/pins", request(range, &two)).await,
        browser.post("/api/v1/exclusions", request(json!({ "company_of": SUBNET }), &one)).await,
        browser.post(&override_it, to_two).await,
    ] {
        let problem = reply.problem(StatusCode::CONFLICT, "conflict");
        assert!(problem["detail"].as_str().unwrap().contains("remove"), "{problem}");
    }
    running.stop().await;
}

#[tokio::test]
async fn an_override_moves_once_and_ends_the_delegation() {
    let ground = Ground::new().await;
    let running = ground.start().await;
    let browser = Browser::signed_in(&ground, &running).await;
    let (mut one, mut two) = two_agents(&running).await;
    crawl_north(&running, &mut one, &mut two).await;
    let id = held(&browser).await["id"].as_str().unwrap().to_owned();
    let path = format!("/api/v1/delegations/{id}/override");
    let order = json!({ "agent": one.id, "reason": "trying something" });
    let dry = browser.post(&format!("{path}?dry_run=true"), order.clone()).await.well();
    assert_eq!((&dry["delegation"], &dry["preview"]["subnets"]), (&Value::Null, &json!(1)));
    let done = browser.post(&path, order.clone()).await.well();
    assert_eq!(
        (&done["delegation"]["reason"], &done["delegation"]["fencing_number"]),
        (&json!("override"), &json!(2))
    );
    assert_eq!(done["preview"], dry["preview"]);
    browser.post(&path, order).await.problem(StatusCode::CONFLICT, "conflict");
    let summary = explanation(&browser).await["summary"].as_str().unwrap().to_owned();
    let start = "agent 1 crawls 198.51.100.0/26 because admin reassigned the subnet to it";
    assert!(summary.starts_with(start), "{summary}");
    let listed = browser.read("/api/v1/delegations?reason=override").await;
    assert_eq!(listed["items"].as_array().unwrap().len(), 1);
    running.stop().await;
}

#[tokio::test]
async fn a_paused_agent_gets_nothing_and_is_no_finding() {
    let ground = Ground::new().await;
    let running = ground.start().await;
    let browser = Browser::signed_in(&ground, &running).await;
    let (mut one, mut two) = two_agents(&running).await;
    crawl_north(&running, &mut one, &mut two).await;
    let id = held(&browser).await["id"].as_str().unwrap().to_owned();
    for agent in [&one, &two] {
        running.order(agent.id, AgentAction::Pause).await;
    }
    let pin = request(json!({ "range": SUBNET }), &one);
    let to_one = json!({ "agent": one.id, "reason": "r" });
    for reply in [
        browser.post("/api/v1/pins", pin).await,
        browser.post(&format!("/api/v1/delegations/{id}/override"), to_one).await,
    ] {
        let problem = reply.problem(StatusCode::UNPROCESSABLE_ENTITY, "invalid-fields");
        assert!(problem["detail"].as_str().unwrap().contains("is paused"), "{problem}");
    }
    let exclusion = request(json!({ "range": SUBNET }), &one);
    browser.post("/api/v1/exclusions", exclusion).await.well();
    let coordinator = &running.coordinator;
    let delegated = coordinator.delegated().unwrap();
    let store = ground.store();
    let report = audit_delegations(store, delegated.hierarchy(), coordinator.now()).await.unwrap();
    assert_eq!(report.findings, []);
    running.stop().await;
}

#[tokio::test]
async fn an_excluded_agent_is_not_asked_and_loses_what_it_has() {
    let ground = Ground::new().await;
    let running = ground.start().await;
    let browser = Browser::signed_in(&ground, &running).await;
    let (mut one, mut two) = two_agents(&running).await;
    crawl_north(&running, &mut one, &mut two).await;
    let exclusion = request(json!({ "company_of": SUBNET }), &two);
    let made = browser.post("/api/v1/exclusions", exclusion).await.well();
    assert_eq!(
        made["constraint"]["scope"],
        json!({ "company": { "registry": "ripencc", "handle": "north" } })
    );
    assert_eq!(
        (&made["preview"]["subnets"], &made["preview"]["reassignments"][0]["to"]),
        (&json!(1), &Value::Null)
    );
    let order = one.orders(&running).await.remove(0);
    one.report(&running, &order, ProbeResult::Unreachable { reason: "no route".into() }).await;
    // No other agent can reach it, so the excluded agent keeps it.
    until("the search is over", || async { explanation(&browser).await["open"] == false }).await;
    assert_eq!(held(&browser).await["agent"]["id"], json!(two.id));
    let id = made["constraint"]["id"].as_str().unwrap();
    browser.delete(&format!("/api/v1/exclusions/{id}")).await.well();
    assert_eq!(browser.read("/api/v1/exclusions").await["items"], json!([]));
    assert_eq!(browser.read("/api/v1/exclusions?ended=true").await["items"][0]["id"], id);
    running.stop().await;
}

#[tokio::test]
async fn an_excluded_agent_is_woken_when_it_loses_a_subnet_without_a_search() {
    let ground = Ground::new().await;
    let running = ground.start().await;
    let browser = Browser::signed_in(&ground, &running).await;
    let (mut one, mut two) = two_agents(&running).await;
    crawl_north(&running, &mut one, &mut two).await;
    execute(ground.store(), "UPDATE hosts SET state = 'failed', agent = NULL").await.unwrap();
    let signal = running.coordinator.agent_wakeups.signal(two.id);
    let woken = signal.notified();
    let exclusion = request(json!({ "range": SUBNET }), &two);
    browser.post("/api/v1/exclusions", exclusion).await.well();
    timeout(PATIENCE, woken).await.unwrap();
    assert_eq!(held(&browser).await, Value::Null);
    running.stop().await;
}

#[tokio::test]
async fn a_search_names_the_agents_that_it_skipped() {
    let ground = Ground::new().await;
    let running = ground.start().await;
    let browser = Browser::signed_in(&ground, &running).await;
    let (mut one, two) = two_agents(&running).await;
    browser.post("/api/v1/exclusions", request(json!({ "country": "AQ" }), &two)).await.well();
    running.add_seeds(&[crate::agents::NORTH]).await;
    let order = one.orders(&running).await.remove(0);
    one.measured(&running, &order, 80_000).await;
    until_held(&browser, &one, "lowest").await;
    let explanation = explanation(&browser).await;
    let trail = explanation["trail"].as_array().unwrap();
    let verdicts: Vec<_> = trail.iter().map(|probe| probe["verdict"].clone()).collect();
    assert_eq!(verdicts, ["too_slow"]);
    assert_eq!(
        explanation["skipped"],
        json!([{ "agent": { "id": two.id, "name": "agent 2" }, "reason": "excluded" }])
    );
    assert!(explanation["took_ms"].as_u64().is_some());
    let summary = explanation["summary"].as_str().unwrap();
    let skipped = "The search skipped agent 2 because it was excluded by an admin.";
    assert!(summary.contains(skipped), "{summary}");
    running.stop().await;
}

#[tokio::test]
async fn an_exclusion_that_expires_is_announced() {
    let ground = Ground::new().await;
    let running = ground.start().await;
    let browser = Browser::signed_in(&ground, &running).await;
    let (one, _two) = two_agents(&running).await;
    let exclusion = request(json!({ "range": SUBNET }), &one);
    browser.post("/api/v1/exclusions", exclusion).await.well();
    let mut events = running.coordinator.events.receive();
    let store = ground.store();
    execute(store, "UPDATE constraints SET expires_at = now() - interval '1 s'").await.unwrap();
    until("the lists are told", || {
        let told = std::iter::from_fn(|| events.try_recv().ok())
            .any(|event| event == Event::ConstraintsChanged);
        std::future::ready(told)
    })
    .await;
    assert_eq!(browser.read("/api/v1/exclusions").await["items"], json!([]));
    running.stop().await;
}
