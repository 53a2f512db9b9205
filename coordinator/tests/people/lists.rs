//! Lists and the overview, after a real piece of work.

use serde_json::{Value, json};
use store::testing::execute;

use crate::agents::{crawl_north, ship_north, two_agents};
use crate::browser::Browser;
use crate::world::Ground;

fn names(page: &Value) -> Vec<&str> {
    page["items"].as_array().unwrap().iter().map(|item| item["name"].as_str().unwrap()).collect()
}

fn subnets(page: &Value) -> Vec<&str> {
    page["items"].as_array().unwrap().iter().map(|item| item["subnet"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn agents_with_what_they_did() {
    let ground = Ground::new().await;
    let running = ground.start().await;
    let browser = Browser::signed_in(&ground, &running).await;
    assert_eq!(browser.read("/api/v1/agents").await["items"], json!([]));
    let (mut one, mut two) = two_agents(&running).await;
    crawl_north(&running, &mut one, &mut two).await;
    ship_north(&running, &two, "North", "aurora").await;
    let all = browser.read("/api/v1/agents").await;
    assert_eq!(names(&all), ["agent 2", "agent 1"]);
    let agent = browser.read(&format!("/api/v1/agents/{}", two.id)).await;
    assert_eq!(agent, all["items"][0]);
    let expected = json!({
        "presence": "awake", "home": "127.0.0.2", "city": null, "registry": "ripencc",
        "country": "AQ", "company": "home-2", "delegations": 2, "hosts": 1, "pages": 1,
        "bytes_fetched": 500, "idle_reason": null,
        "spans": [], "zone": "UTC", "asleep_until": null,
    });
    for (field, value) in expected.as_object().unwrap() {
        assert_eq!(&agent[field], value, "{field}");
    }
    assert!(agent["bytes_shipped"].as_u64().unwrap() > 100);
    let first = browser.read("/api/v1/agents?limit=1").await;
    let rest = browser
        .read(&format!("/api/v1/agents?limit=1&cursor={}", first["next_cursor"].as_str().unwrap()))
        .await;
    assert_eq!(
        (names(&first), names(&rest), &rest["next_cursor"]),
        (vec!["agent 2"], vec!["agent 1"], &Value::Null)
    );
    running.stop().await;
}

#[tokio::test]
async fn delegations_by_agent_reason_and_text() {
    let ground = Ground::new().await;
    let running = ground.start().await;
    let browser = Browser::signed_in(&ground, &running).await;
    let (mut one, mut two) = two_agents(&running).await;
    crawl_north(&running, &mut one, &mut two).await;
    let north = "198.51.100.0/26";
    let list = |query: String| {
        let browser = browser.clone();
        async move { browser.read(&format!("/api/v1/delegations{query}")).await }
    };
    let all = list(String::new()).await;
    assert_eq!(subnets(&all), [north, "127.0.0.2/32", "127.0.0.1/32"]);
    let item = &all["items"][0];
    let expected = json!({
        "agent": { "id": two.id, "name": "agent 2" }, "company": "north", "country": "AQ",
        "registry": "ripencc", "reason": "threshold", "provisional": false, "fencing_number": 1,
        "threshold_ms": 50.0, "rtt_ms": 12.345,
        "probes": 2, "hosts": 1, "ended_at": null,
    });
    for (field, value) in expected.as_object().unwrap() {
        assert_eq!(&item[field], value, "{field}");
    }
    assert_eq!(all["items"][1]["threshold_ms"], Value::Null, "no search for a home");
    for (query, count) in [
        (format!("agent={}", two.id), 2),
        ("reason=home".to_owned(), 2),
        (format!("reason=home&agent={}", two.id), 1),
        ("q=198.51.100.7".to_owned(), 1),
        ("q=198.51.100.64".to_owned(), 0),
        ("q=127.0.0.0/8".to_owned(), 2),
        ("q=aq".to_owned(), 3),
        ("q=NORT".to_owned(), 1),
        ("q=agent%202".to_owned(), 2),
        ("q=198.51".to_owned(), 1),
        ("q=51.100".to_owned(), 0),
        ("q=%25".to_owned(), 0),
        ("q=".to_owned(), 3),
    ] {
        assert_eq!(subnets(&list(format!("?{query}")).await).len(), count, "{query}");
    }
    let named = "UPDATE hosts SET authority = 'www.example' WHERE authority LIKE '198.51%'";
    assert_eq!(execute(ground.store(), named).await.unwrap(), 1);
    for query in ["?q=www.ex", "?q=WWW.Ex"] {
        assert_eq!(subnets(&list(query.to_owned()).await), [north], "{query}");
    }
    let page = list("?limit=2".to_owned()).await;
    let rest = list(format!("?cursor={}", page["next_cursor"].as_str().unwrap())).await;
    assert_eq!(subnets(&rest), ["127.0.0.1/32"]);
    running.stop().await;
}

#[tokio::test]
async fn filters_that_make_no_sense_are_refused() {
    let ground = Ground::bare().await;
    let running = ground.start().await;
    let browser = Browser::signed_in(&ground, &running).await;
    for query in ["agent=dlg_1", "reason=mood", "q=%00", &format!("q={}", "x".repeat(201))] {
        let reply = browser.get(&format!("/api/v1/delegations?{query}")).await;
        reply.problem(reqwest::StatusCode::BAD_REQUEST, "bad-request");
    }
    running.stop().await;
}

#[tokio::test]
async fn an_address_and_the_way_to_it() {
    let ground = Ground::bare().await;
    let running = ground.start().await;
    let browser = Browser::signed_in(&ground, &running).await;
    let none = browser.get("/api/v1/hierarchy/127.0.0.1").await;
    none.problem(reqwest::StatusCode::CONFLICT, "conflict");
    crate::world::load(ground.store(), &crate::world::hierarchy()).await;
    let (one, _two) = two_agents(&running).await;
    let answer = browser.read("/api/v1/hierarchy/127.0.0.1").await;
    let chain = answer["chain"].as_array().unwrap();
    assert_eq!((&chain[0]["subnet"], &chain[0]["kind"]), (&json!("0.0.0.0/0"), &json!("root")));
    let last = chain.last().unwrap();
    assert_eq!(
        (&last["subnet"], &last["kind"], &last["company"]),
        (&json!("127.0.0.1/32"), &json!("delegated"), &json!("home-1"))
    );
    assert_eq!(last["delegated_to"], json!({ "id": one.id, "name": "agent 1" }));
    let elsewhere = browser.read("/api/v1/hierarchy/2001:DB8:0::1").await;
    assert_eq!(
        (&elsewhere["address"], &elsewhere["chain"][0]["subnet"]),
        (&json!("2001:db8::1"), &json!("::/0"))
    );
    running.stop().await;
}

#[tokio::test]
async fn the_overview_counts() {
    let ground = Ground::new().await;
    let running = ground.start().await;
    let browser = Browser::signed_in(&ground, &running).await;
    let (mut one, mut two) = two_agents(&running).await;
    crawl_north(&running, &mut one, &mut two).await;
    ship_north(&running, &two, "North", "aurora").await;
    crate::world::until("the overview has it all", || async {
        let overview = browser.read("/api/v1/overview").await;
        overview["pages"]["ingested"] == 1 && overview["urls"]["pending"] == 0
    })
    .await;
    let overview = browser.read("/api/v1/overview").await;
    assert_eq!(
        (&overview["generation"]["subnets"], &overview["generation"]["companies"]),
        (&json!(8), &json!(5))
    );
    let source = &overview["generation"]["sources"][0];
    assert_eq!((&source["date"], &source["outdated"]), (&json!("2018-10-13"), &json!(true)));
    assert!(source["age_days"].as_u64().unwrap() > 2_900, "{source}");
    assert_eq!(
        (&overview["agents"]["approved"], &overview["agents"]["awake"]),
        (&json!(2), &json!(2))
    );
    assert_eq!(
        overview["delegations"]["by_reason"],
        json!({
            "home": 2, "company": 0, "threshold": 1, "lowest": 0, "predicted": 0, "pinned": 0,
            "override": 0, "balanced": 0, "drained": 0, "takeover": 0
        })
    );
    assert_eq!(
        (&overview["delegation_searches"], &overview["probes"]),
        (
            &json!({ "open": 0, "decided": 1 }),
            &json!({ "total": 2, "homes": 0, "per_search_mean": 2.0 })
        )
    );
    assert_eq!(
        overview["hosts"],
        json!({ "known": 1, "resolved": 1, "delegated": 1, "failed": 0 })
    );
    assert_eq!(overview["urls"]["routed"], 1);
    assert_eq!(
        (&overview["packages"]["received"], &overview["packages"]["ingested"]),
        (&json!(1), &json!(1))
    );
    assert_eq!(overview["pages"], json!({ "ingested": 1, "indexed": 1, "bytes_fetched": 500 }));
    assert!(overview["coordinator"]["rss_bytes"].as_u64().unwrap() > 1_000_000);
    running.stop().await;
}
