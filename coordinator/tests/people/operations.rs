//! Every operation of the API, by its own document: locked to strangers, deaf to wrong methods and
//! cursors, shut to other sites.

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::browser::{Browser, Reply, json_body};
use crate::world::Ground;

/// One operation of the document, with its path made concrete.
struct Operation {
    method: Method,
    path: String,
    document: Value,
}

async fn operations(browser: &Browser) -> Vec<Operation> {
    let response = browser.get("/api/v1/openapi.json").await;
    assert_eq!(response.header("content-type"), Some("application/json"));
    let document: Value = serde_json::from_str(&response.text).unwrap();
    let mut operations = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        let id = match path.split('/').nth(3) {
            Some("delegations") => "dlg_1",
            Some("failed-packages") => "pkg_1",
            _ => "agt_1",
        };
        let path = path.replace("{id}", id).replace("{address}", "127.0.0.1");
        for (method, operation) in item.as_object().unwrap() {
            let method = method.to_uppercase().parse().unwrap();
            operations.push(Operation { method, path: path.clone(), document: operation.clone() });
        }
    }
    assert!(operations.len() >= 24, "the document lists every operation");
    operations
}

/// Operations that need no session.
const OPEN: [&str; 9] = [
    "search_pages",
    "sign_in",
    "sign_out",
    "create_join_request",
    "open_invitation",
    "list_downloads",
    "get_liveness",
    "get_readiness",
    "get_version",
];

fn body(operation: &Operation) -> Value {
    match operation.path.as_str() {
        "/api/v1/join-tokens" => json!({ "name": "x", "ttl_s": 60 }),
        "/api/v1/api-tokens" => json!({ "name": "x", "scope": "viewer" }),
        "/api/v1/seeds" => json!({ "urls": ["http://198.51.100.1/"] }),
        "/api/v1/policy" => json!({ "threshold_ms": 50, "patience_s": 60, "host_delay_ms": 1000 }),
        "/api/v1/session" => json!({ "name": "x", "password": "y" }),
        _ => Value::Null,
    }
}

#[tokio::test]
async fn requests_without_a_session_are_refused() {
    let ground = Ground::new().await;
    let running = ground.start().await;
    let mut browser = Browser::new(&running);
    for operation in operations(&browser).await {
        let open = OPEN.contains(&operation.document["operationId"].as_str().unwrap());
        assert_eq!(
            operation.document.get("security").is_none(),
            open,
            "{} {}",
            operation.method,
            operation.path
        );
        for cookie in [None, Some("nearcrawl_session=AAAA"), Some("nearcrawl_session=")]
            .iter()
            .filter(|_| !open)
        {
            browser.cookie = cookie.map(str::to_owned);
            let request = json_body(
                browser.request(operation.method.clone(), &operation.path),
                &body(&operation),
            );
            Reply::of(request).await.problem(StatusCode::UNAUTHORIZED, "not-signed-in");
        }
    }
    running.stop().await;
}

/// Operations by which everybody, or every signed-in person for the own account, changes something.
const FOR_EVERYBODY: [&str; 7] = [
    "sign_in",
    "sign_out",
    "change_own_password",
    "create_join_request",
    "open_invitation",
    "create_api_token",
    "revoke_api_token",
];

#[tokio::test]
async fn a_viewer_reads_everything_and_changes_nothing() {
    let ground = Ground::new().await;
    let running = ground.start().await;
    let browser = Browser::signed_in(&ground, &running).await;
    let viewer = Browser::signed_in_as_viewer(&browser, &running).await;
    for operation in operations(&viewer).await {
        let id = operation.document["operationId"].as_str().unwrap();
        if FOR_EVERYBODY.contains(&id) {
            continue;
        }
        let request = viewer.request(operation.method.clone(), &operation.path);
        if operation.method == Method::GET {
            // Only the head: the stream of events has no end.
            let status = request.send().await.unwrap().status();
            let is_refused = [StatusCode::UNAUTHORIZED, StatusCode::FORBIDDEN].contains(&status);
            assert!(!is_refused && !status.is_server_error(), "{id}: {status}");
        } else {
            let reply = Reply::of(json_body(request, &body(&operation))).await;
            reply.problem(StatusCode::FORBIDDEN, "not-an-admin");
        }
    }
    running.stop().await;
}

#[tokio::test]
async fn wrong_methods_are_problems_that_name_the_allowed_ones() {
    let ground = Ground::bare().await;
    let running = ground.start().await;
    let browser = Browser::new(&running);
    for operation in operations(&browser).await {
        let reply = Reply::of(browser.request(Method::PATCH, &operation.path)).await;
        reply.problem(StatusCode::METHOD_NOT_ALLOWED, "method-not-allowed");
        assert!(
            reply.header("allow").unwrap().contains(operation.method.as_str()),
            "{}",
            operation.path
        );
    }
    running.stop().await;
}

#[tokio::test]
async fn cross_site_requests_change_nothing() {
    let ground = Ground::bare().await;
    let running = ground.start().await;
    let browser = Browser::signed_in(&ground, &running).await;
    for operation in
        operations(&browser).await.iter().filter(|operation| operation.method != Method::GET)
    {
        let request = || {
            json_body(browser.request(operation.method.clone(), &operation.path), &body(operation))
        };
        let mut cross_site = request().build().unwrap();
        cross_site.headers_mut().insert("sec-fetch-site", "cross-site".parse().unwrap());
        let reply = reply_to(cross_site).await;
        reply.problem(StatusCode::FORBIDDEN, "cross-site");
        // An old browser sends only its origin.
        let mut cross_site = request().header("origin", "https://evil.example").build().unwrap();
        cross_site.headers_mut().remove("sec-fetch-site");
        reply_to(cross_site).await.problem(StatusCode::FORBIDDEN, "cross-site");
    }
    assert_eq!(browser.read("/api/v1/join-tokens").await["items"], json!([]));
    running.stop().await;
}

async fn reply_to(request: reqwest::Request) -> Reply {
    let response = crate::agent::client("127.0.0.1").execute(request).await.unwrap();
    let status = response.status();
    let headers = response.headers().clone();
    Reply { status, headers, text: response.text().await.unwrap() }
}

#[tokio::test]
async fn foreign_cursors_and_limits_out_of_range_are_refused() {
    let ground = Ground::bare().await;
    let running = ground.start().await;
    let browser = Browser::signed_in(&ground, &running).await;
    let mut count = 0;
    for operation in operations(&browser).await {
        let parameters = operation.document["parameters"].as_array().cloned().unwrap_or_default();
        if !parameters.iter().any(|parameter| parameter["name"] == "cursor") {
            continue;
        }
        count += 1;
        for bad in ["cursor=!", "cursor=", "cursor=YWJj", "limit=0", "limit=501", "limit=-1"] {
            let reply = browser.get(&format!("{}?q=x&{bad}", operation.path)).await;
            let problem = reply.problem(StatusCode::BAD_REQUEST, "bad-request");
            assert_eq!(problem["errors"][0]["field"], bad.split('=').next().unwrap(), "{problem}");
        }
        browser
            .get(&format!("{}?limit=many", operation.path))
            .await
            .problem(StatusCode::BAD_REQUEST, "bad-request");
    }
    assert_eq!(count, 15, "lists");
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
    // Seeds may be larger.
    let large =
        browser.request(Method::POST, "/api/v1/pins").header("content-type", "application/json");
    let large = Reply::of(large.body(format!("[\"{}\"]", "x".repeat(5 << 20)))).await;
    large.problem(StatusCode::PAYLOAD_TOO_LARGE, "body-too-large");
    running.stop().await;
}

#[tokio::test]
async fn unknown_objects_are_not_found() {
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
    for path in ["delegations/dlg_1/explanation", "nothing", "agents/agt_1/dance"] {
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
async fn health_and_version_need_no_session() {
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
