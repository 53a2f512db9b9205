//! Text with NUL, which Postgres cannot hold, is refused before anything is done.

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::browser::{Browser, Reply, json_body};
use crate::world::Ground;

async fn count(ground: &Ground, statement: &'static str) -> u64 {
    store::testing::execute(ground.store(), statement).await.unwrap()
}

#[tokio::test]
async fn bodies_with_nul_are_refused_by_field_and_change_nothing() {
    let ground = Ground::bare().await;
    let running = ground.start().await;
    let browser = Browser::signed_in(&ground, &running).await;
    let seeds = json!({ "urls": ["http://198.51.100.1/", "http://198.51.100.1/\0"] });
    for (path, body, field) in [
        ("/api/v1/session", json!({ "name": "ad\0min", "password": "x" }), "name"),
        ("/api/v1/session", json!({ "name": "admin", "password": "\0" }), "password"),
        ("/api/v1/seeds", seeds, "urls[1]"),
        ("/api/v1/join-tokens", json!({ "name": "a\0", "ttl_s": 60 }), "name"),
    ] {
        let reply = Reply::of(json_body(browser.request(Method::POST, path), &body)).await;
        let problem = reply.problem(StatusCode::UNPROCESSABLE_ENTITY, "invalid-fields");
        assert_eq!(problem["errors"][0]["field"], field, "{problem}");
    }
    assert_eq!(count(&ground, "DELETE FROM pending_urls").await, 0, "nothing is queued");
    assert_eq!(count(&ground, "DELETE FROM audit WHERE action = 'seeds.add'").await, 0);
    running.stop().await;
}

#[tokio::test]
async fn parameters_with_nul_are_refused_by_name() {
    let ground = Ground::bare().await;
    let running = ground.start().await;
    let browser = Browser::signed_in(&ground, &running).await;
    let document: Value =
        serde_json::from_str(&browser.get("/api/v1/openapi.json").await.text).unwrap();
    let mut tried = 0;
    for (path, item) in document["paths"].as_object().unwrap() {
        let path = path.replace("{id}", "%00").replace("{address}", "%00");
        if path.contains("%00") {
            let status = browser.get(&path).await.status;
            assert!(status.is_client_error(), "{path}: {status}");
        }
        for parameter in item["get"]["parameters"].as_array().into_iter().flatten() {
            if parameter["in"] != "query" || path.contains("%00") {
                continue;
            }
            let name = parameter["name"].as_str().unwrap();
            let reply = browser.get(&format!("{path}?{name}=%00")).await;
            let problem = reply.problem(StatusCode::BAD_REQUEST, "bad-request");
            assert_eq!(problem["errors"][0]["field"], name, "{path}: {problem}");
            tried += 1;
        }
    }
    assert!(tried > 10, "the document lists query parameters");
    running.stop().await;
}

#[tokio::test]
async fn seeds_and_their_entry_in_the_audit_log_are_written_together() {
    let ground = Ground::bare().await;
    let running = ground.start().await;
    let browser = Browser::signed_in(&ground, &running).await;
    // The entry cannot be written, so nothing may be queued.
    let prepared = store::testing::execute(
        ground.store(),
        "ALTER TABLE audit ADD CONSTRAINT no_seeds CHECK (action <> 'seeds.add')",
    );
    prepared.await.unwrap();
    let reply = browser.post("/api/v1/seeds", json!({ "urls": ["http://198.51.100.1/"] })).await;
    reply.problem(StatusCode::INTERNAL_SERVER_ERROR, "internal");
    assert_eq!(count(&ground, "DELETE FROM pending_urls").await, 0);
    running.stop().await;
}
