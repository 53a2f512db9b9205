//! The audit log, by API.

use serde_json::{Value, json};

use crate::browser::Browser;
use crate::world::Ground;

const ENTRIES: &str = "/api/v1/audit/entries";

fn actions(page: &Value) -> Vec<&str> {
    let items = page["items"].as_array().unwrap();
    items.iter().map(|entry| entry["action"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn entries_are_found_by_person_action_subject_and_time() {
    let ground = Ground::bare().await;
    let running = ground.start().await;
    let admin = Browser::signed_in(&ground, &running).await;
    Browser::signed_in_as_viewer(&admin, &running).await;
    admin.put("/api/v1/policy", json!({ "control_permille": 8 })).await.well();
    let list = |query: &'static str| {
        let admin = admin.clone();
        async move { admin.read(&format!("{ENTRIES}{query}")).await }
    };
    let all = list("").await;
    let expected =
        ["policy.change", "session.open", "account.create", "session.open", "admin.create"];
    assert_eq!(actions(&all), expected, "the newest first");
    assert_eq!(all["items"][2]["detail"], json!({ "name": "vera", "role": "viewer" }));
    assert_eq!(all["items"][0]["detail"]["after"]["control_permille"], 8);

    assert_eq!(actions(&list("?actor=vera").await), ["session.open"]);
    assert_eq!(actions(&list("?actor=coordinator").await), ["admin.create"]);
    assert_eq!(actions(&list("?action=session").await).len(), 2, "a noun means all its verbs");
    assert_eq!(actions(&list("?action=account.create&subject=").await), ["account.create"]);
    assert_eq!(actions(&list("?subject=policy").await), ["policy.change"]);
    assert_eq!(actions(&list("?until=2000-01-01T00:00:00Z").await), [""; 0]);
    assert_eq!(actions(&list("?from=2000-01-01T00:00:00Z").await).len(), 5);
    // Postgres cannot hold such a time.
    assert_eq!(actions(&list("?from=-009000-01-01T00:00:00Z").await).len(), 5);

    // Page by page.
    let mut paged: Vec<String> = Vec::new();
    let mut path = format!("{ENTRIES}?limit=2");
    loop {
        let page = admin.read(&path).await;
        paged.extend(actions(&page).into_iter().map(str::to_owned));
        let Some(cursor) = page["next_cursor"].as_str() else { break };
        path = format!("{ENTRIES}?limit=2&cursor={cursor}");
    }
    assert_eq!(paged, expected);
    running.stop().await;
}

#[tokio::test]
async fn a_time_that_is_none_is_refused() {
    let ground = Ground::bare().await;
    let running = ground.start().await;
    let admin = Browser::signed_in(&ground, &running).await;
    for query in ["?from=yesterday", "?until=2018-13-01T00:00:00Z"] {
        let reply = admin.get(&format!("{ENTRIES}{query}")).await;
        reply.problem(reqwest::StatusCode::BAD_REQUEST, "bad-request");
    }
    running.stop().await;
}
