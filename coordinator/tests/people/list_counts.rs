//! Orders and counts of lists.

use coordinator::placement::agent_administration::AgentAction;
use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::agents::{crawl_north, ship_north, two_agents};
use crate::browser::Browser;
use crate::world::Ground;

fn names(list: &Value) -> Vec<&str> {
    list["items"].as_array().unwrap().iter().map(|item| item["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn lists_are_sorted_and_counted_by_the_server() {
    let ground = Ground::new().await;
    let running = ground.start().await;
    let browser = Browser::signed_in(&ground, &running).await;
    let (mut one, mut two) = two_agents(&running).await;
    crawl_north(&running, &mut one, &mut two).await;
    ship_north(&running, &two, "North", "aurora").await;
    running.order(one.id, AgentAction::Pause).await;

    let by_name = browser.read("/api/v1/agents?sort=name&limit=1").await;
    assert_eq!((names(&by_name), &by_name["total"]), (vec!["agent 1"], &json!(2)));
    let cursor = by_name["next_cursor"].as_str().unwrap();
    let rest = browser.read(&format!("/api/v1/agents?sort=name&limit=1&cursor={cursor}")).await;
    assert_eq!((names(&rest), &rest["next_cursor"]), (vec!["agent 2"], &Value::Null));
    let by_pages = browser.read("/api/v1/agents?sort=pages&state=approved&q=aq").await;
    assert_eq!(names(&by_pages), ["agent 2"]);
    assert_eq!(
        by_pages["states"],
        json!([{ "state": "approved", "agents": 1 }, { "state": "paused", "agents": 1 }])
    );
    assert_eq!(by_pages["presences"], json!([{ "presence": "awake", "agents": 1 }]));

    let exactly = |count: u64| json!({ "count": count, "more": false });
    let hosts = browser.read("/api/v1/hosts?counts=true&state=failed").await;
    assert_eq!((&hosts["items"], &hosts["counts"]["total"]), (&json!([]), &exactly(0)));
    let delegated = json!({ "state": "delegated", "hosts": exactly(1) });
    assert!(hosts["counts"]["states"].as_array().unwrap().contains(&delegated), "{hosts}");
    let seeded = browser.read("/api/v1/hosts?counts=true&seeded=true").await;
    assert_eq!((&seeded["counts"]["total"], names(&seeded).len()), (&exactly(1), 1));
    assert_eq!(browser.read("/api/v1/hosts").await["counts"], Value::Null);
    for (subnet, hosts) in [("198.51.100.0/26", 1), ("198.51.100.0/24", 0)] {
        let found = browser.read(&format!("/api/v1/hosts?counts=true&subnet={subnet}")).await;
        assert_eq!(found["counts"]["total"], exactly(hosts), "{subnet}");
    }
    let refused = browser.get("/api/v1/hosts?subnet=north").await;
    refused.problem(StatusCode::BAD_REQUEST, "bad-request");

    let slow = browser.read("/api/v1/delegations?sort=slowest&counts=true").await;
    assert_eq!(slow["items"].as_array().unwrap().len(), 1, "homes are not measured");
    assert_eq!(slow["counts"]["total"], exactly(3));
    assert_eq!(
        slow["counts"]["reasons"],
        json!([{ "reason": "home", "delegations": exactly(2) },
               { "reason": "threshold", "delegations": exactly(1) }])
    );
    let of_two = browser.read(&format!("/api/v1/delegations?agent={}&counts=true", two.id)).await;
    assert_eq!(of_two["counts"]["total"], exactly(2));
    let slow_of_two = format!("/api/v1/delegations?agent={}&sort=slowest", two.id);
    assert_eq!(browser.read(&slow_of_two).await["items"], slow["items"]);

    let log = browser.read("/api/v1/audit/entries?action=agent&counts=true").await;
    assert_eq!(log["counts"]["total"], exactly(3));
    assert_eq!(
        log["counts"]["actions"],
        json!([{ "action": "agent.approve", "entries": 2 },
               { "action": "agent.pause", "entries": 1 }])
    );
    running.stop().await;
}
