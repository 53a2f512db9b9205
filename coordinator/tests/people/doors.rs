//! Every door of the API, by its own document: locked to strangers, deaf to wrong methods and
//! cursors, shut to other sites.

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::browser::{Browser, Reply, json_body};
use crate::world::Ground;

/// One operation of the document, with its path made concrete.
struct Door {
    method: Method,
    path: String,
    operation: Value,
}

async fn doors(browser: &Browser) -> Vec<Door> {
    let document = browser.get("/api/v1/openapi.json").await;
    assert_eq!(document.header("content-type"), Some("application/json"));
    let document: Value = serde_json::from_str(&document.text).unwrap();
    let mut doors = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        let id = if path.contains("delegations") { "dlg_1" } else { "agt_1" };
        let path = path.replace("{id}", id).replace("{address}", "127.0.0.1");
        for (method, operation) in item.as_object().unwrap() {
            let method = method.to_uppercase().parse().unwrap();
            doors.push(Door { method, path: path.clone(), operation: operation.clone() });
        }
    }
    assert!(doors.len() >= 24, "the document lists every operation");
    doors
}

/// Operations that need no session.
const OPEN: [&str; 6] = ["search", "sign_in", "sign_out", "livez", "readyz", "version"];

fn body(door: &Door) -> Value {
    match door.path.as_str() {
        "/api/v1/join-tokens" => json!({ "name": "x", "ttl_s": 60 }),
        "/api/v1/seeds" => json!({ "urls": ["http://198.51.100.1/"] }),
        "/api/v1/policy" => json!({ "threshold_ms": 50, "patience_s": 60, "host_delay_ms": 1000 }),
        "/api/v1/session" => json!({ "name": "x", "password": "y" }),
        _ => Value::Null,
    }
}

#[tokio::test]
async fn strangers_are_turned_away_everywhere() {
    let ground = Ground::new().await;
    let running = ground.start().await;
    let mut browser = Browser::new(&running);
    for door in doors(&browser).await {
        let open = OPEN.contains(&door.operation["operationId"].as_str().unwrap());
        assert_eq!(door.operation.get("security").is_none(), open, "{} {}", door.method, door.path);
        for cookie in [None, Some("nearcrawl_session=AAAA"), Some("nearcrawl_session=")]
            .iter()
            .filter(|_| !open)
        {
            browser.cookie = cookie.map(str::to_owned);
            let request = json_body(browser.request(door.method.clone(), &door.path), &body(&door));
            Reply::of(request).await.problem(StatusCode::UNAUTHORIZED, "not-signed-in");
        }
    }
    running.stop().await;
}

#[tokio::test]
async fn wrong_methods_are_problems_that_name_the_right_ones() {
    let ground = Ground::bare().await;
    let running = ground.start().await;
    let browser = Browser::new(&running);
    for door in doors(&browser).await {
        let reply = Reply::of(browser.request(Method::PATCH, &door.path)).await;
        reply.problem(StatusCode::METHOD_NOT_ALLOWED, "method-not-allowed");
        assert!(reply.header("allow").unwrap().contains(door.method.as_str()), "{}", door.path);
    }
    running.stop().await;
}

#[tokio::test]
async fn other_sites_may_change_nothing() {
    let ground = Ground::bare().await;
    let running = ground.start().await;
    let browser = Browser::signed_in(&ground, &running).await;
    for door in doors(&browser).await.iter().filter(|door| door.method != Method::GET) {
        let request = || json_body(browser.request(door.method.clone(), &door.path), &body(door));
        let mut from_elsewhere = request().build().unwrap();
        from_elsewhere.headers_mut().insert("sec-fetch-site", "cross-site".parse().unwrap());
        let reply = reply_to(from_elsewhere).await;
        reply.problem(StatusCode::FORBIDDEN, "cross-site");
        // An old browser tells its origin only.
        let mut from_elsewhere =
            request().header("origin", "https://evil.example").build().unwrap();
        from_elsewhere.headers_mut().remove("sec-fetch-site");
        reply_to(from_elsewhere).await.problem(StatusCode::FORBIDDEN, "cross-site");
    }
    assert_eq!(browser.read("/api/v1/join-tokens").await["items"], json!([]));
    running.stop().await;
}

async fn reply_to(request: reqwest::Request) -> Reply {
    let response = crate::agent::client("127.0.0.1").execute(request).await.unwrap();
    let (status, headers) = (response.status(), response.headers().clone());
    Reply { status, headers, text: response.text().await.unwrap() }
}

#[tokio::test]
async fn foreign_cursors_and_limits_out_of_range_are_refused() {
    let ground = Ground::bare().await;
    let running = ground.start().await;
    let browser = Browser::signed_in(&ground, &running).await;
    let mut count = 0;
    for door in doors(&browser).await {
        let parameters = door.operation["parameters"].as_array().cloned().unwrap_or_default();
        if !parameters.iter().any(|parameter| parameter["name"] == "cursor") {
            continue;
        }
        count += 1;
        for bad in ["cursor=!", "cursor=", "cursor=YWJj", "limit=0", "limit=501", "limit=-1"] {
            let reply = browser.get(&format!("{}?q=x&{bad}", door.path)).await;
            let problem = reply.problem(StatusCode::BAD_REQUEST, "bad-request");
            assert_eq!(problem["errors"][0]["field"], bad.split('=').next().unwrap(), "{problem}");
        }
        browser
            .get(&format!("{}?limit=many", door.path))
            .await
            .problem(StatusCode::BAD_REQUEST, "bad-request");
    }
    assert_eq!(count, 9, "lists");
    running.stop().await;
}

#[tokio::test]
async fn bodies_that_break_the_rules_are_refused_field_by_field() {
    let ground = Ground::bare().await;
    let running = ground.start().await;
    let browser = Browser::signed_in(&ground, &running).await;
    let cases = [
        ("POST", "/api/v1/join-tokens", json!({ "name": " ", "ttl_s": 59 }), vec!["name", "ttl_s"]),
        ("POST", "/api/v1/join-tokens", json!({ "name": "a\nb", "ttl_s": 60 }), vec!["name"]),
        ("POST", "/api/v1/seeds", json!({ "urls": [] }), vec!["urls"]),
        (
            "POST",
            "/api/v1/session",
            json!({ "name": "", "password": "x".repeat(257) }),
            vec!["name", "password"],
        ),
        (
            "PUT",
            "/api/v1/policy",
            json!({ "threshold_ms": 0, "patience_s": 86_401, "host_delay_ms": 600_001 }),
            vec!["threshold_ms", "patience_s", "host_delay_ms"],
        ),
    ];
    for (method, path, body, fields) in cases {
        let request = json_body(browser.request(method.parse().unwrap(), path), &body);
        let problem =
            Reply::of(request).await.problem(StatusCode::UNPROCESSABLE_ENTITY, "invalid-fields");
        let named: Vec<&str> = problem["errors"]
            .as_array()
            .unwrap()
            .iter()
            .map(|error| error["field"].as_str().unwrap())
            .collect();
        assert_eq!(named, fields);
    }
    running.stop().await;
}

#[tokio::test]
async fn bodies_that_cannot_be_read_are_problems_too() {
    let ground = Ground::bare().await;
    let running = ground.start().await;
    let browser = Browser::signed_in(&ground, &running).await;
    let post = |kind: &'static str, body: &'static str| {
        let request =
            browser.request(Method::POST, "/api/v1/seeds").header("content-type", kind).body(body);
        Reply::of(request)
    };
    post("application/json", "{").await.problem(StatusCode::BAD_REQUEST, "bad-request");
    post("text/plain", "{}").await.problem(StatusCode::UNSUPPORTED_MEDIA_TYPE, "not-json");
    let wrong = post("application/json", r#"{"urls":[],"more":1}"#).await;
    wrong.problem(StatusCode::UNPROCESSABLE_ENTITY, "invalid-fields");
    let large =
        browser.request(Method::POST, "/api/v1/seeds").header("content-type", "application/json");
    let large = Reply::of(large.body(format!("[\"{}\"]", "x".repeat(5 << 20)))).await;
    large.problem(StatusCode::PAYLOAD_TOO_LARGE, "body-too-large");
    running.stop().await;
}

#[tokio::test]
async fn what_is_not_there_is_not_found() {
    let ground = Ground::new().await;
    let running = ground.start().await;
    running.until_hierarchy_is_loaded().await;
    let browser = Browser::signed_in(&ground, &running).await;
    for path in [
        "agents/agt_1",
        "agents/12",
        "agents/dlg_1",
        "agents/agt_99999999999999999999",
        "delegations/dlg_1",
    ] {
        browser.get(&format!("/api/v1/{path}")).await.problem(StatusCode::NOT_FOUND, "not-found");
    }
    for path in ["delegations/dlg_1/why", "nothing", "agents/agt_1/dance"] {
        browser.get(&format!("/api/v1/{path}")).await.problem(StatusCode::NOT_FOUND, "not-found");
    }
    for outcome in ["approve", "pause", "resume", "revoke"] {
        let path = format!("/api/v1/agents/agt_7/{outcome}");
        browser.post(&path, Value::Null).await.problem(StatusCode::NOT_FOUND, "not-found");
    }
    browser.get("/api/v1/hierarchy/nonsense").await.problem(StatusCode::BAD_REQUEST, "bad-request");
    running.stop().await;
}

#[tokio::test]
async fn health_and_version_are_told_to_anybody() {
    let ground = Ground::bare().await;
    let running = ground.start().await;
    let browser = Browser::new(&running);
    assert_eq!(browser.get("/livez").await.text, "ok\n");
    assert_eq!(browser.get("/readyz").await.text, "ready\n");
    let version = browser.read("/version").await;
    assert_eq!(version["protocol"], protocol::version::CURRENT.0);
    assert!(
        version["dashboard"]
            .as_str()
            .is_some_and(|dashboard| dashboard == "stub" || dashboard.len() == 12)
    );
    running.stop().await;
}
