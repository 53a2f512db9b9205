//! All pages of a revoked agent are removed from the search, at every coordinator.

use coordinator::packages::cursor::LedgerCursor;
use coordinator::placement::agent_administration::AgentAction;
use reqwest::StatusCode;
use serde_json::Value;
use store::packages::ledger;

use crate::agent::{FakeAgent, PAGE, page};
use crate::browser::Browser;
use crate::world::{self, Ground, Running, until};

fn found(running: &Running) -> u64 {
    world::search(&running.coordinator.packages.index, "perennial").total
}

async fn until_found(running: &Running, pages: u64) {
    until("the index has the pages", || std::future::ready(found(running) == pages)).await;
}

#[tokio::test]
async fn no_coordinator_finds_the_pages_of_a_revoked_agent_any_more() {
    let ground = Ground::new().await.with_shared_storage();
    let running = ground.start().await;
    let agent = FakeAgent::crawling(&running).await;
    let beside = tempfile::tempdir().unwrap();
    let later = tempfile::tempdir().unwrap();
    let other = ground.start_beside(&beside).await;
    agent.ship_well(&running, 1, agent.package(1, &[page(PAGE, "Page", "perennial")])).await;
    for coordinator in [&running, &other] {
        until_found(coordinator, 1).await;
    }
    let browser = Browser::signed_in(&ground, &running).await;
    let remove = format!("/api/v1/agents/{}/remove-pages", agent.id);

    // It works, so that its next package would bring pages again.
    let refused = browser.post(&remove, Value::Null).await;
    refused.problem(StatusCode::CONFLICT, "conflict");
    assert_eq!(found(&running), 1);

    let agents = browser.read("/api/v1/agents").await;
    assert_eq!(agents["items"][0]["presence"], "awake");
    running.order(agent.id, AgentAction::Revoke).await;
    let agents = browser.read("/api/v1/agents").await;
    assert_eq!(agents["items"][0]["presence"], "unreachable", "its heartbeats are refused");
    for _ in 0..2 {
        let removed = browser.post(&remove, Value::Null).await;
        assert_eq!(removed.status, StatusCode::OK, "{}", removed.text);
        assert!(removed.text.contains("\"pages_removed_at\":\"20"), "{}", removed.text);
    }
    let ledger = ledger(ground.store()).await.unwrap();
    assert_eq!(ledger.removals, 1, "ordered once");
    for coordinator in [&running, &other] {
        until_found(coordinator, 0).await;
    }
    let log = browser.read("/api/v1/audit/entries?action=agent.remove_pages").await;
    assert_eq!(log["items"].as_array().unwrap().len(), 1, "{log}");

    // A coordinator that builds its index from all packages leaves the pages out, too.
    let newcomer = ground.start_beside(&later).await;
    until("it has read the package", || {
        let progress = newcomer.coordinator.packages.index.progress();
        std::future::ready(LedgerCursor::of_index(&progress, &ledger).holds(ledger.last))
    })
    .await;
    assert_eq!(found(&newcomer), 0);
    for coordinator in [newcomer, other, running] {
        coordinator.stop().await;
    }
}
