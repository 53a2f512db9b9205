//! The public search, without a session.

use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::agent::page;
use crate::agents::{NORTH, crawl_north, ship_north, two_agents};
use crate::browser::Browser;
use crate::world::{Ground, until};

#[tokio::test]
async fn a_page_is_found_with_its_snippet() {
    let ground = Ground::new().await;
    let running = ground.start().await;
    let (mut one, mut two) = two_agents(&running).await;
    crawl_north(&running, &mut one, &mut two).await;
    ship_north(&running, &two, "Northern <b>lights</b>", "the aurora <script>x</script> borealis")
        .await;
    let browser = Browser::new(&running);
    let answer = browser.read("/api/v1/search?q=Aurora%20site:198.51.100.1%20lang:en").await;
    assert_eq!(
        (&answer["query"], &answer["total"]),
        (&json!("Aurora site:198.51.100.1 lang:en"), &json!(1))
    );
    assert_eq!(answer["next_cursor"], Value::Null);
    let item = &answer["items"][0];
    let expected = json!({
        "url": NORTH, "title": "Northern <b>lights</b>", "host": "198.51.100.1", "lang": "en",
        "snippet": [
            { "text": "the ", "hit": false }, { "text": "aurora", "hit": true },
            { "text": " <script>x</script> borealis", "hit": false },
        ],
    });
    for (field, value) in expected.as_object().unwrap() {
        assert_eq!(&item[field], value, "{field}");
    }
    assert!(
        item["score"].as_f64().unwrap() > 0.0
            && item["fetched_at"].as_str().unwrap().ends_with('Z')
    );
    assert_eq!(browser.read("/api/v1/search?q=site:elsewhere.example%20aurora").await["total"], 0);
    running.stop().await;
}

#[tokio::test]
async fn an_answer_is_paged_through() {
    let ground = Ground::new().await;
    let running = ground.start().await;
    let (mut one, mut two) = two_agents(&running).await;
    crawl_north(&running, &mut one, &mut two).await;
    let pages: Vec<_> = (0..25).map(|n| page(&format!("{NORTH}{n}"), "tree", "forest")).collect();
    two.ship_well(&running, 1, two.package(1, &pages)).await;
    until("all are indexed", || std::future::ready(running.coordinator.packages.index.len() == 25))
        .await;
    let browser = Browser::new(&running);
    let mut urls = Vec::new();
    let mut cursor = String::new();
    for size in [10, 10, 5] {
        let answer = browser.read(&format!("/api/v1/search?q=tree{cursor}")).await;
        let items = answer["items"].as_array().unwrap();
        assert_eq!((items.len(), answer["total"].as_u64()), (size, Some(25)));
        urls.extend(items.iter().map(|item| item["url"].as_str().unwrap().to_owned()));
        cursor = answer["next_cursor"]
            .as_str()
            .map(|cursor| format!("&cursor={cursor}"))
            .unwrap_or_default();
    }
    urls.sort();
    urls.dedup();
    assert_eq!((urls.len(), cursor.as_str()), (25, ""));
    running.stop().await;
}

#[tokio::test]
async fn whatever_is_typed_is_answered() {
    let ground = Ground::bare().await;
    let running = ground.start().await;
    let browser = Browser::new(&running);
    for query in [
        "",
        "%22",
        "(((((",
        "*:*",
        "site:",
        "-",
        "a%20AND%20(b%20OR",
        "%F0%9F%95%B7",
        &"a*".repeat(400),
    ] {
        assert_eq!(browser.read(&format!("/api/v1/search?q={query}")).await["total"], 0, "{query}");
    }
    browser.get("/api/v1/search").await.problem(StatusCode::BAD_REQUEST, "bad-request");
    let long = browser.get(&format!("/api/v1/search?q={}", "x".repeat(1_001))).await;
    long.problem(StatusCode::BAD_REQUEST, "bad-request");
    running.stop().await;
}
