//! A package that cannot be ingested is set aside with its agent and error, and the others go on.

use reqwest::StatusCode;
use serde_json::{Value, json};
use store::testing::execute;

use crate::agent::{FakeAgent, PAGE, link, page};
use crate::browser::Browser;
use crate::world::{self, Ground, until};

const LINK: &str = "http://unlucky.example/";

async fn failed(browser: &Browser) -> Vec<Value> {
    browser.read("/api/v1/failed-packages").await["items"].as_array().unwrap().clone()
}

#[tokio::test]
async fn a_package_that_the_database_refuses_is_set_aside_and_the_others_go_on() {
    let ground = Ground::new().await;
    let running = ground.start().await;
    let agent = FakeAgent::crawling(&running).await;
    let browser = Browser::signed_in(&ground, &running).await;
    let refuse = "ALTER TABLE pending_urls
                  ADD CONSTRAINT unlucky CHECK (url <> 'http://unlucky.example/')";
    execute(ground.store(), refuse).await.unwrap();
    agent.ship_well(&running, 1, agent.package(1, &[link(LINK)])).await;
    agent.ship_well(&running, 2, agent.package(2, &[page(PAGE, "Page", "lucky")])).await;
    let index = &running.coordinator.packages.index;
    until("the other package is ingested", || {
        std::future::ready(world::search(index, "lucky").total == 1)
    })
    .await;
    until("the package is listed", || async { failed(&browser).await.len() == 1 }).await;
    let item = failed(&browser).await.remove(0);
    let expected =
        json!({ "id": "pkg_1", "agent": agent.id, "agent_name": "agent 1", "number": 1 });
    for (field, value) in expected.as_object().unwrap() {
        assert_eq!(&item[field], value, "{item}");
    }
    assert!(item["error"].as_str().unwrap().contains("unlucky"), "{item}");
    assert!(item["retry_at"].as_str() > item["failed_at"].as_str(), "{item}");
    let tasks = browser.read("/api/v1/tasks").await;
    let named = tasks["items"].as_array().unwrap().iter().any(|task| {
        let outcome = task["last_outcome"].as_str().unwrap_or_default();
        outcome.contains("pkg_1") && outcome.contains(&agent.id.to_string())
    });
    assert!(named, "{tasks}");

    // The cause is gone, and an admin does not want to wait.
    execute(ground.store(), "ALTER TABLE pending_urls DROP CONSTRAINT unlucky").await.unwrap();
    let retried = browser.post("/api/v1/failed-packages/pkg_1/retry", Value::Null).await;
    assert_eq!(retried.status, StatusCode::NO_CONTENT);
    until("nothing has failed", || async { failed(&browser).await.is_empty() }).await;
    browser
        .post("/api/v1/failed-packages/pkg_1/retry", Value::Null)
        .await
        .problem(StatusCode::NOT_FOUND, "not-found");
    running.stop().await;
}
