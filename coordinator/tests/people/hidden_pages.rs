//! Sites and pages that an admin takes out of the search, and shows again.

use reqwest::StatusCode;
use serde_json::{Value, json};
use store::testing::execute;

use crate::agent::{FakeAgent, page};
use crate::browser::Browser;
use crate::world::{Ground, Running, until};

const LEAKED: &str = "http://127.0.0.1/leaked";
const OTHER: &str = "http://127.0.0.1/other";
const HOST: &str = "127.0.0.1";

async fn ship_pages(running: &Running) {
    let agent = FakeAgent::crawling(running).await;
    let pages = [LEAKED, OTHER].map(|url| page(url, "Page", "perennial"));
    agent.ship_well(running, 1, agent.package(1, &pages)).await;
}

async fn found(running: &Running) -> Vec<String> {
    let answer = Browser::new(running).read("/api/v1/search?q=perennial").await;
    let items = answer["items"].as_array().unwrap();
    assert_eq!(answer["total"], items.len());
    let mut urls: Vec<String> =
        items.iter().map(|item| item["url"].as_str().unwrap().to_owned()).collect();
    urls.sort();
    urls
}

async fn until_found(running: &Running, urls: &[&str]) {
    until("searches find these pages", async || found(running).await == urls).await;
}

async fn hide(browser: &Browser, target: &str) -> Value {
    let body = json!({ "target": target, "reason": " a court order " });
    let made = browser.post("/api/v1/hidden", body).await;
    assert_eq!(made.status, StatusCode::CREATED, "{}", made.text);
    made.well()
}

/// Shows an entry again, which is possible once.
async fn show(browser: &Browser, entry: &Value) {
    let path = format!("/api/v1/hidden/{}", entry["id"].as_str().unwrap());
    assert_eq!(browser.delete(&path).await.status, StatusCode::NO_CONTENT);
    browser.delete(&path).await.problem(StatusCode::NOT_FOUND, "not-found");
}

#[tokio::test]
async fn every_coordinator_hides_at_once_and_shows_again() {
    let ground = Ground::new().await.with_shared_storage();
    let running = ground.start().await;
    let beside = tempfile::tempdir().unwrap();
    let later = tempfile::tempdir().unwrap();
    let other = ground.start_beside(&beside).await;
    ship_pages(&running).await;
    for coordinator in [&running, &other] {
        until_found(coordinator, &[LEAKED, OTHER]).await;
    }
    let browser = Browser::signed_in(&ground, &running).await;

    let leaked = hide(&browser, LEAKED).await;
    assert_eq!(found(&running).await, [OTHER], "it takes effect before the answer");
    until_found(&other, &[OTHER]).await;
    let site = hide(&browser, HOST).await;
    until_found(&other, &[]).await;
    let newcomer = ground.start_beside(&later).await;
    until("it has the pages", async || newcomer.coordinator.packages.index.len() == 2).await;
    assert_eq!(found(&newcomer).await, [""; 0], "an index that is built anew");

    show(&browser, &site).await;
    until_found(&other, &[OTHER]).await;
    show(&browser, &leaked).await;
    assert_eq!(found(&running).await, [LEAKED, OTHER]);
    until_found(&other, &[LEAKED, OTHER]).await;
    for coordinator in [newcomer, other, running] {
        coordinator.stop().await;
    }
}

#[tokio::test]
async fn searches_leave_hidden_pages_out_without_the_database() {
    let ground = Ground::new().await;
    let running = ground.start().await;
    ship_pages(&running).await;
    until_found(&running, &[LEAKED, OTHER]).await;
    let browser = Browser::signed_in(&ground, &running).await;
    hide(&browser, LEAKED).await;
    running.coordinator.store.close().await;
    assert_eq!(found(&running).await, [OTHER]);
    running.stop().await;
}

#[tokio::test]
async fn the_list_is_paged_and_changes_are_audited() {
    let ground = Ground::bare().await;
    let running = ground.start().await;
    let browser = Browser::signed_in(&ground, &running).await;
    let leaked = hide(&browser, "http://127.0.0.1:80/leaked#part").await;
    let expected = json!({
        "id": "hid_1", "kind": "page", "target": LEAKED, "reason": "a court order",
        "hidden_by": "admin", "hidden_at": leaked["hidden_at"],
    });
    assert_eq!(leaked, expected);
    let site = hide(&browser, HOST).await;
    let listed = browser.read("/api/v1/hidden?limit=1").await;
    assert_eq!(listed["items"], json!([site]));
    let next = listed["next_cursor"].as_str().unwrap();
    let listed = browser.read(&format!("/api/v1/hidden?limit=1&cursor={next}")).await;
    assert_eq!((&listed["items"], &listed["next_cursor"]), (&json!([leaked]), &Value::Null));
    show(&browser, &leaked).await;
    let log = browser.read("/api/v1/audit/entries?action=search").await;
    let entries = log["items"].as_array().unwrap().iter();
    let done: Vec<_> = entries
        .map(|entry| (entry["action"].as_str().unwrap(), entry["subject"].as_str().unwrap()))
        .collect();
    let expected = [("search.show", LEAKED), ("search.hide", HOST), ("search.hide", LEAKED)];
    assert_eq!(done, expected);
    running.stop().await;
}

#[tokio::test]
async fn what_cannot_be_hidden_is_refused_with_the_reason() {
    let ground = Ground::bare().await;
    let running = ground.start().await;
    let browser = Browser::signed_in(&ground, &running).await;
    let long = "r".repeat(501);
    for (target, reason, field) in [
        ("two words", "r", "target"),
        ("example.org/page", "r", "target"),
        ("ftp://example.org/", "r", "target"),
        ("example.org", "  ", "reason"),
        ("example.org", &long, "reason"),
    ] {
        let reply =
            browser.post("/api/v1/hidden", json!({ "target": target, "reason": reason })).await;
        let problem = reply.problem(StatusCode::UNPROCESSABLE_ENTITY, "invalid-fields");
        assert_eq!(problem["errors"][0]["field"], field, "{problem}");
    }
    let viewer = Browser::signed_in_as_viewer(&browser, &running).await;
    let body = json!({ "target": "example.org", "reason": "r" });
    viewer.post("/api/v1/hidden", body).await.problem(StatusCode::FORBIDDEN, "not-an-admin");
    let site = hide(&browser, "Example.org").await;
    assert_eq!(viewer.read("/api/v1/hidden").await["items"], json!([site]));
    let lift = viewer.delete("/api/v1/hidden/hid_1").await;
    lift.problem(StatusCode::FORBIDDEN, "not-an-admin");
    let again = json!({ "target": "example.org.", "reason": "r" });
    let twice = browser.post("/api/v1/hidden", again).await;
    let problem = twice.problem(StatusCode::CONFLICT, "conflict");
    assert!(problem["detail"].as_str().unwrap().contains("already"), "{problem}");

    let fill = "INSERT INTO hidden_from_search (target, kind, reason, hidden_by, hidden_at)
        SELECT n || '.example', 'site', 'r', 'admin', now() FROM generate_series(2, 10000) n";
    execute(ground.store(), fill).await.unwrap();
    let more = json!({ "target": "one.more.example", "reason": "r" });
    let refused = browser.post("/api/v1/hidden", more).await;
    let problem = refused.problem(StatusCode::CONFLICT, "conflict");
    assert!(problem["detail"].as_str().unwrap().contains("10000"), "{problem}");
    running.stop().await;
}
