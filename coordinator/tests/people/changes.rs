//! What admins change, and that the audit knows.

use reqwest::StatusCode;
use serde_json::{Value, json};
use store::audit::Filter;
use store::testing::execute;

use crate::agent::FakeAgent;
use crate::agents::{NORTH, crawl_north, ship_north, two_agents};
use crate::browser::Browser;
use crate::world::Ground;

/// Actor, action and subject of what the admin changed, in order.
async fn audit(ground: &Ground) -> Vec<(String, String, String)> {
    let mut noted =
        store::audit::list(ground.store(), &Filter::default(), i64::MAX, 100).await.unwrap();
    noted.retain(|entry| entry.actor == "admin" && entry.action != "session.open");
    noted.into_iter().rev().map(|entry| (entry.actor, entry.action, entry.subject)).collect()
}

fn entry(action: &str, subject: &str) -> (String, String, String) {
    ("admin".to_owned(), action.to_owned(), subject.to_owned())
}

#[tokio::test]
async fn an_agents_standing() {
    let ground = Ground::new().await;
    let running = ground.start().await;
    running.until_hierarchy_is_loaded().await;
    let browser = Browser::signed_in(&ground, &running).await;
    let agent = FakeAgent::enrol(&running, 1).await;
    let order = |outcome: &'static str| {
        let browser = browser.clone();
        let path = format!("/api/v1/agents/{}/{outcome}", agent.id);
        async move { browser.post(&path, Value::Null).await }
    };
    order("pause").await.problem(StatusCode::CONFLICT, "conflict");
    let approved = order("approve").await.well();
    assert_eq!((&approved["state"], &approved["delegations"]), (&json!("approved"), &json!(1)));
    assert!(approved["approved_at"].is_string());
    assert_eq!(order("approve").await.well()["state"], "approved", "once more does no harm");
    assert_eq!(order("pause").await.well()["state"], "paused");
    assert_eq!(order("resume").await.well()["state"], "approved");
    assert_eq!(order("revoke").await.well()["state"], "revoked");
    order("approve").await.problem(StatusCode::CONFLICT, "conflict");
    let id = agent.id.to_string();
    let token = entry("join_token.create", "tok_1");
    let outcome = ["agent.approve", "agent.pause", "agent.resume", "agent.revoke"]
        .map(|outcome| entry(outcome, &id));
    assert_eq!(audit(&ground).await, [&[token], &outcome[..]].concat());
    running.stop().await;
}

#[tokio::test]
async fn join_tokens_are_shown_once() {
    let ground = Ground::bare().await;
    let running = ground.start().await;
    let browser = Browser::signed_in(&ground, &running).await;
    let made =
        browser.post("/api/v1/join-tokens", json!({ "name": " Cyprus ", "ttl_s": 3600 })).await;
    assert_eq!(made.status, StatusCode::CREATED);
    let token = made.well()["token"].as_str().unwrap().to_owned();
    let listed = browser.get("/api/v1/join-tokens").await;
    assert!(!listed.text.contains(&token));
    let item = listed.well()["items"][0].clone();
    assert_eq!(
        (&item["id"], &item["name"], &item["created_by"]),
        (&json!("tok_1"), &json!("Cyprus"), &json!("admin"))
    );
    assert_eq!((&item["used_at"], &item["used_by"]), (&Value::Null, &Value::Null));
    // The second token is used by an agent.
    let agent = FakeAgent::enrol(&running, 1).await;
    let first = browser.read("/api/v1/join-tokens?limit=1").await;
    assert_eq!(first["items"][0]["used_by"], json!({ "id": agent.id, "name": "agent 1" }));
    let rest = browser
        .read(&format!("/api/v1/join-tokens?cursor={}", first["next_cursor"].as_str().unwrap()))
        .await;
    assert_eq!((&rest["items"][0]["id"], &rest["next_cursor"]), (&json!("tok_1"), &Value::Null));
    assert_eq!(audit(&ground).await[0], entry("join_token.create", "tok_1"));
    running.stop().await;
}

#[tokio::test]
async fn seeds_are_sorted_into_new_known_and_refused() {
    let ground = Ground::bare().await;
    let running = ground.start().await;
    let browser = Browser::signed_in(&ground, &running).await;
    let seeds = json!({ "urls": ["http://a.example/", "ftp://a.example/", "http://b.example/#x", "nonsense"] });
    let answer = browser.post("/api/v1/seeds", seeds.clone()).await.well();
    assert_eq!((&answer["accepted"], &answer["already_known"]), (&json!(2), &json!(0)));
    let rejected = answer["rejected"].as_array().unwrap();
    assert_eq!(
        rejected[0],
        json!({ "url": "ftp://a.example/", "reason": "only http and https are crawled, not ftp" })
    );
    assert_eq!(rejected[1]["url"], "nonsense");
    let again = browser.post("/api/v1/seeds", seeds).await.well();
    assert_eq!((&again["accepted"], &again["already_known"]), (&json!(0), &json!(2)));
    assert_eq!(audit(&ground).await, [entry("seeds.add", "seeds"), entry("seeds.add", "seeds")]);
    running.stop().await;
}

#[tokio::test]
async fn repeated_and_indexed_seeds_hide_no_new_ones() {
    let ground = Ground::new().await;
    let running = ground.start().await;
    let browser = Browser::signed_in(&ground, &running).await;
    let (mut one, mut two) = two_agents(&running).await;
    crawl_north(&running, &mut one, &mut two).await;
    ship_north(&running, &two, "North", "indexed").await;
    let urls = [NORTH, "http://198.51.100.1", "http://198.51.100.1/#x", "http://b.example/"];
    for urls in [&urls[..], &[NORTH, NORTH, "http://c.example/"]] {
        let answer = browser.post("/api/v1/seeds", json!({ "urls": urls })).await.well();
        let counts = (&answer["accepted"], &answer["already_known"]);
        assert_eq!(counts, (&json!(1), &json!(1)), "{urls:?}");
    }
    let log = browser.read("/api/v1/audit/entries?subject=seeds").await;
    let detail = &log["items"][1]["detail"];
    assert_eq!((&detail["accepted"], &detail["already_known"]), (&json!(1), &json!(1)));
    running.stop().await;
}

#[tokio::test]
async fn as_many_and_as_long_seeds_as_are_documented_fit_into_a_request() {
    let ground = Ground::bare().await;
    let running = ground.start().await;
    let browser = Browser::signed_in(&ground, &running).await;
    let urls = vec!["x".repeat(2_048); 10_000];
    let answer = browser.post("/api/v1/seeds", json!({ "urls": urls })).await.well();
    assert_eq!(answer["rejected"].as_array().unwrap().len(), 10_000);
    running.stop().await;
}

#[tokio::test]
async fn seeds_that_nobody_can_fetch_are_refused_with_the_reason() {
    let ground = Ground::new().await;
    let running = ground.start().await;
    running.until_hierarchy_is_loaded().await;
    let browser = Browser::signed_in(&ground, &running).await;
    running.queue_links(&["http://dead.example/a"]).await;
    let give_up = "UPDATE hosts SET state = 'failed', address = '192.168.1.1',
        reason = 'a special-purpose address', retry_at = now() + interval '1 hour'";
    execute(ground.store(), give_up).await.unwrap();
    let refused = [
        ("http://printer.local/", "names under .local are not in the public DNS"),
        ("http://a..example/", "a..example is not a name that the DNS can have"),
        ("http://192.168.1.1/", "192.168.1.1 is a special-purpose address (private)"),
        (
            "http://dead.example/b",
            "its host was given up less than a day ago: a special-purpose address",
        ),
    ];
    let urls: Vec<&str> = refused.iter().map(|(url, _)| *url).collect();
    let answer = browser.post("/api/v1/seeds", json!({ "urls": urls })).await.well();
    assert_eq!((&answer["accepted"], &answer["already_known"]), (&json!(0), &json!(0)));
    let expected: Vec<Value> =
        refused.iter().map(|(url, reason)| json!({ "url": url, "reason": reason })).collect();
    assert_eq!(answer["rejected"], json!(expected));
    running.stop().await;
}

#[tokio::test]
async fn settings_have_one_name_in_the_api_and_in_the_database() {
    let ground = Ground::bare().await;
    let running = ground.start().await;
    let browser = Browser::signed_in(&ground, &running).await;
    let policy = browser.read("/api/v1/policy").await;
    for name in policy.as_object().unwrap().keys().filter(|name| *name != "preset") {
        // The database keeps finer units, which the names tell.
        let name = match name.as_str() {
            "threshold_ms" => "threshold_us",
            "patience_s" => "patience_ms",
            other => other,
        };
        let column: &str = format!("SELECT {name} FROM policy").leak();
        assert_eq!(execute(ground.store(), column).await.unwrap(), 1, "{name}");
    }
    running.stop().await;
}

#[tokio::test]
async fn policy_changes_apply_at_once() {
    let ground = Ground::bare().await;
    let running = ground.start().await;
    let browser = Browser::signed_in(&ground, &running).await;
    let before = browser.read("/api/v1/policy").await;
    assert_eq!(
        before,
        json!({
            "preset": "default",
            "strategy": "predictive", "threshold_ms": 50, "patience_s": 60,
            "parallel_probes": 1, "samples_per_probe": 3,
            "probes_per_agent": 20_000, "probes_per_target": 50, "probes_total": 1_000_000,
            "control_permille": 10,
            "host_delay_ms": 1_000, "pages_per_host": 10_000, "link_depth": 25,
            "balance_rule": "cheapest", "balance_pass": "optimal",
            "balance_moves_per_day": 100, "balance_least_gain_ms": 1_000, "revisit_s": 604_800,
            "revisit_least_s": 86_400, "slowdown_percent": 200,
            "slowdown_repeats": 3, "incident_cooldown_s": 86_400, "incident_window_s": 3_600,
            "discovered_urls_per_agent": 1_000_000, "discovered_hosts_per_agent": 50_000,
            "discovered_urls_per_host": 20_000
        })
    );
    let mut after = before.clone();
    after["preset"] = json!(null);
    let change = json!({ "strategy": "threshold", "threshold_ms": 30, "samples_per_probe": 5,
                         "probes_total": 10, "revisit_least_s": 3_600,
                         "pages_per_host": 200_000, "link_depth": 3,
                        "balance_rule": "off", "balance_moves_per_day": 7 });
    after.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
    assert_eq!(browser.put("/api/v1/policy", change).await.well(), after, "absent fields stay");
    assert_eq!(
        browser.put("/api/v1/policy", after.clone()).await.well(),
        after,
        "a policy that was read may be sent back"
    );
    assert_eq!(browser.read("/api/v1/policy").await, after);
    let policy = running.coordinator.policy.load();
    let crawl = policy.for_agents();
    assert_eq!((policy.threshold_us, crawl.revisit_least_s), (30_000, 3_600));
    assert_eq!((crawl.pages_a_host, crawl.depth), (200_000, 3));
    let changes = [entry("policy.change", "policy"), entry("policy.change", "policy")];
    assert_eq!(audit(&ground).await, changes);
    let paper = browser.put("/api/v1/policy", json!({ "preset": "paper" })).await.well();
    after.as_object_mut().unwrap().extend(
        json!({ "preset": "paper", "strategy": "threshold", "threshold_ms": 50,
                "balance_rule": "variance", "balance_pass": "off" })
        .as_object()
        .unwrap()
        .clone(),
    );
    assert_eq!(paper, after, "a preset changes only what it names");
    let wrong = json!({ "parallel_probes": 0, "control_permille": 1_001 });
    let refusal = browser.put("/api/v1/policy", wrong).await;
    refusal.problem(StatusCode::UNPROCESSABLE_ENTITY, "invalid-fields");
    running.stop().await;
}
