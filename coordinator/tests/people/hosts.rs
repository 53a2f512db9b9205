//! Hosts, errors and the inspector, after real fetches.

use model::{AgentId, ErrorKind};
use protocol::host_status::{HostStatus, UrlStatus, WaitsFor};
use protocol::page::{DisallowedBy, Failure, Outcome};
use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::agent::{FakeAgent, PAGE, fetch, page};
use crate::browser::Browser;
use crate::world::{Ground, Running, until};

const GONE: &str = "http://127.0.0.1/gone";
const SECRET: &str = "http://127.0.0.1/secret";
const SLOW: &str = "http://127.0.0.1/slow";

/// An agent that has fetched a page, one that is gone, one that is forbidden and one that failed.
async fn crawled(running: &Running) -> FakeAgent {
    let agent = FakeAgent::crawling(running).await;
    let gone = Outcome::Other { status: 404, media_type: None };
    let entries = [
        page(PAGE, "Front", "harbour"),
        fetch(GONE, gone),
        fetch(SECRET, Outcome::Disallowed { by: DisallowedBy::RobotsTxt }),
        fetch(SLOW, Outcome::Failed(Failure::new(ErrorKind::Timeout, "no answer in time"))),
    ];
    agent.ship_well(running, 1, agent.package(1, &entries)).await;
    let index = &running.coordinator.packages.index;
    until("the page is indexed", || std::future::ready(index.len() == 1)).await;
    agent
}

async fn ingested(browser: &Browser) -> Value {
    let read = || async { browser.read("/api/v1/hosts").await };
    until("the package is applied", || async { read().await["items"][0]["fetches"] == 4 }).await;
    read().await
}

fn steps(inspection: &Value) -> Vec<(&str, &str)> {
    let steps = inspection["steps"].as_array().unwrap().iter();
    steps.map(|step| (step["step"].as_str().unwrap(), step["state"].as_str().unwrap())).collect()
}

#[tokio::test]
async fn a_host_with_its_fetches_and_errors() {
    let ground = Ground::new().await;
    let running = ground.start().await;
    let browser = Browser::signed_in(&ground, &running).await;
    let agent = crawled(&running).await;
    let list = ingested(&browser).await;
    let host = &list["items"][0];
    let expected = json!({
        "name": "http://127.0.0.1", "state": "delegated", "address": "127.0.0.1",
        "subnet": "127.0.0.1/32", "country": "AQ", "pages": 1, "fetches": 4, "errors": 2,
        "disallowed": 1, "bytes_fetched": 2_000, "mean_ms": 3, "reason": null,
        "agent": { "id": agent.id, "name": "agent 1" },
    });
    for (field, value) in expected.as_object().unwrap() {
        assert_eq!(&host[field], value, "{field}");
    }
    let details = browser.read(&format!("/api/v1/hosts/{}", host["id"].as_str().unwrap())).await;
    let outcomes: Vec<&str> = details["recent"]
        .as_array()
        .unwrap()
        .iter()
        .map(|fetch| fetch["outcome"].as_str().unwrap())
        .collect();
    assert_eq!(outcomes, ["failed", "disallowed", "http_error", "page"], "the newest first");
    assert_eq!((&details["found_by"], &details["host"]), (&Value::Null, host));
    let errors = details["errors"].as_array().unwrap();
    assert_eq!(errors.len(), 2);
    running.stop().await;
}

#[tokio::test]
async fn hosts_in_every_order_and_by_every_filter() {
    let ground = Ground::new().await;
    let running = ground.start().await;
    let browser = Browser::signed_in(&ground, &running).await;
    let agent = crawled(&running).await;
    ingested(&browser).await;
    running.add_seeds(&["http://127.0.0.2/"]).await;
    running.queue_links(&["http://nobody.invalid/"]).await;
    for (query, count) in [
        ("", 3),
        ("sort=errors", 1),
        ("sort=slowest", 1),
        ("sort=bytes", 1),
        ("sort=disallowed", 1),
        ("q=127.0.0.1", 1),
        ("q=127.0.0.0/8&state=delegated", 1),
        ("q=NOBODY", 1),
        ("q=body", 0),
        ("q=%25", 0),
        ("state=moving", 0),
        (&format!("agent={}&sort=errors", agent.id), 1),
        (&format!("agent={}", AgentId::new(99)), 0),
    ] {
        let list = browser.read(&format!("/api/v1/hosts?{query}")).await;
        assert_eq!(list["items"].as_array().unwrap().len(), count, "{query}");
    }
    let first = browser.read("/api/v1/hosts?limit=2").await;
    let cursor = first["next_cursor"].as_str().unwrap();
    let rest = browser.read(&format!("/api/v1/hosts?limit=2&cursor={cursor}")).await;
    assert_eq!(rest["items"][0]["name"], "http://127.0.0.1", "the oldest comes last");
    for query in ["sort=mood", "state=mood", "cursor=x", &format!("q={}", "x".repeat(254))] {
        let reply = browser.get(&format!("/api/v1/hosts?{query}")).await;
        reply.problem(StatusCode::BAD_REQUEST, "bad-request");
    }
    browser.get("/api/v1/hosts/hst_99").await.problem(StatusCode::NOT_FOUND, "not-found");
    running.stop().await;
}

#[tokio::test]
async fn errors_by_cause_agent_and_host() {
    let ground = Ground::new().await;
    let running = ground.start().await;
    let browser = Browser::signed_in(&ground, &running).await;
    let agent = crawled(&running).await;
    ingested(&browser).await;
    let all = browser.read("/api/v1/errors").await;
    let kinds =
        json!([{ "kind": "timeout", "errors": 1 }, { "kind": "client_error", "errors": 1 }]);
    assert_eq!(all["kinds"], kinds);
    let by_agent = json!([{ "agent": { "id": agent.id, "name": "agent 1" }, "errors": 2 }]);
    assert_eq!(all["agents"], by_agent);
    let gone = browser.read(&format!("/api/v1/errors?kind=client_error&agent={}", agent.id)).await;
    let hosts = gone["hosts"].as_array().unwrap();
    assert_eq!(hosts.len(), 1);
    assert_eq!((&hosts[0]["url"], &hosts[0]["detail"]), (&json!(GONE), &json!("HTTP 404")));
    let yesterday = browser.read("/api/v1/errors?days_ago=1").await;
    assert_eq!(yesterday["hosts"], json!([]));
    let reply = browser.get("/api/v1/errors?days_ago=7").await;
    reply.problem(StatusCode::BAD_REQUEST, "bad-request");
    running.stop().await;
}

#[tokio::test]
async fn a_url_is_explained_with_the_agents_answer() {
    let ground = Ground::new().await;
    let running = ground.start().await;
    let browser = Browser::signed_in(&ground, &running).await;
    let mut agent = crawled(&running).await;
    ingested(&browser).await;
    agent.heartbeat(&running, 0).await;
    let explain = |url: &str| {
        let browser = browser.clone();
        let path = format!("/api/v1/explain?q={url}");
        async move { browser.read(&path).await }
    };
    // The question travels with the answer to a heartbeat, and the answer with the next one.
    let (explained, ()) = tokio::join!(explain(PAGE), answer_one(&running, &mut agent));
    let expected = [
        ("found", "done"),
        ("dns", "done"),
        ("subnet", "done"),
        ("delegation", "done"),
        ("agent", "done"),
        ("robots", "done"),
        ("queue", "done"),
        ("fetch", "done"),
        ("index", "done"),
    ];
    assert_eq!(steps(&explained), expected, "{explained:#}");
    assert_eq!((&explained["is_asking"], &explained["subject"]), (&json!(false), &json!(PAGE)));
    let forbidden = explain(SECRET).await;
    assert_eq!(steps(&forbidden)[5], ("robots", "stuck"), "{forbidden:#}");
    assert_eq!(forbidden["is_asking"], true, "nobody answered");
    running.stop().await;
}

/// Answers the first question that comes.
async fn answer_one(running: &Running, agent: &mut FakeAgent) {
    let mut questions = Vec::new();
    while questions.is_empty() {
        questions = agent.heartbeat(running, 3_000).await.questions;
    }
    let host = HostStatus {
        host: "http://127.0.0.1".into(),
        waits_for: WaitsFor::Revisit,
        until: None,
        reason: "its queue is empty".into(),
        next: None,
        is_allowed: None,
        accepted: 4,
        failures: 0,
    };
    let url = questions.remove(0);
    let answer = UrlStatus { url, is_allowed: Some(true), is_known: true, host };
    let mut request = agent.heartbeat_request(0);
    request.url_statuses = vec![answer];
    let reply = agent.post(running, "heartbeat", &request).await;
    assert_eq!(reply.status(), StatusCode::OK);
}

#[tokio::test]
async fn hosts_addresses_subnets_companies_and_agents_are_explained() {
    let ground = Ground::new().await;
    let running = ground.start().await;
    let browser = Browser::signed_in(&ground, &running).await;
    let agent = crawled(&running).await;
    ingested(&browser).await;
    for (query, kind, conclusion) in [
        ("127.0.0.0/8", "subnet", "1 host is known, with 1 page."),
        ("agent%201", "agent", "1 host is known, with 1 page."),
        (&agent.id.to_string(), "agent", "1 host is known, with 1 page."),
        ("home-1", "company", "1 subnet of home-1 is delegated to agent 1."),
        (
            "http://new.example/x",
            "url",
            "No seed and no link has led to http://new.example so far.",
        ),
        ("new.example", "url", "No seed and no link has led to http://new.example so far."),
    ] {
        let explained = browser.read(&format!("/api/v1/explain?q={query}")).await;
        assert_eq!(
            (explained["kind"].as_str(), explained["conclusion"].as_str()),
            (Some(kind), Some(conclusion)),
            "{query}"
        );
    }
    let reply = browser.get("/api/v1/explain?q=nobody").await;
    reply.problem(StatusCode::NOT_FOUND, "not-found");
    let reply = browser.get("/api/v1/explain?q=").await;
    reply.problem(StatusCode::BAD_REQUEST, "bad-request");
    running.stop().await;
}
