//! Values that no honest agent reports: refused at upload, or harmless.

use model::UnixMillis;
use protocol::page::{Entry, Trend};
use reqwest::StatusCode;
use serde_json::Value;

use crate::agent::{FakeAgent, PAGE, now, page, problem};
use crate::world::{self, Ground, Running, until};

/// A page of the agent's host, with the time of its fetch.
fn fetched_at(time: UnixMillis, text: &str) -> Entry {
    let Entry::Fetch(mut fetch) = page(PAGE, "Page", text) else { unreachable!() };
    fetch.fetched_at = time;
    Entry::Fetch(fetch)
}

async fn search(running: &Running, query: &str) -> (StatusCode, Value) {
    let url = format!("{}/api/v1/search?q={query}", running.base);
    let response = crate::agent::client("127.0.0.1").get(url).send().await.unwrap();
    let status = response.status();
    (status, serde_json::from_str(&response.text().await.unwrap()).unwrap())
}

async fn until_found(running: &Running, query: &str) -> Value {
    let index = &running.coordinator.packages.index;
    until("the page is found", || std::future::ready(world::search(index, query).total == 1)).await;
    let (status, found) = search(running, query).await;
    assert_eq!(status, StatusCode::OK, "{found}");
    found["items"][0].clone()
}

#[tokio::test]
async fn values_that_stop_ingestion_are_refused_and_others_are_ingested() {
    let ground = Ground::new().await;
    let running = ground.start().await;
    let agent = FakeAgent::crawling(&running).await;
    let with = |change: &dyn Fn(&mut protocol::page::Fetch)| {
        let Entry::Fetch(mut fetch) = page(PAGE, "Page", "text") else { unreachable!() };
        change(&mut fetch);
        agent.package(1, &[Entry::Fetch(fetch)])
    };
    let nul_in_slower = with(&|fetch| {
        fetch.url = format!("{PAGE}\0");
        fetch.trend = Some(Trend::Slower { ratio: 3.0 });
    });
    let bodies =
        [with(&|f| f.wire_bytes = 1 << 63), with(&|f| f.wire_bytes = 1 << 62), nul_in_slower];
    for body in bodies {
        let (status, name, detail) = problem(agent.ship(&running, 1, body).await).await;
        assert_eq!((status, name.as_str()), (StatusCode::UNPROCESSABLE_ENTITY, "package-value"));
        assert!(detail.contains("entry 1"), "{detail}");
    }
    let largest = with(&|fetch| fetch.wire_bytes = protocol::limits::FETCH_WIRE_BYTES);
    agent.ship_well(&running, 1, largest).await;
    until_found(&running, "text").await;
    running.stop().await;
}

#[tokio::test]
async fn a_time_that_cannot_be_is_that_of_receipt() {
    let ground = Ground::new().await;
    let running = ground.start().await;
    let agent = FakeAgent::crawling(&running).await;
    let impossible = [i64::MAX, i64::MIN, 253_402_300_799_000, now().0 + 3_600_000];
    for (seq, time) in (1..).zip(impossible) {
        let word = format!("edition{seq}");
        let body = agent.package(seq, &[fetched_at(UnixMillis(time), &word)]);
        agent.ship_well(&running, seq, body).await;
        // Each replaces the one before, though that claimed to be newer.
        let item = until_found(&running, &word).await;
        assert!(item["fetched_at"].as_str().unwrap().starts_with("20"), "{item}");
    }
    running.stop().await;
}

/// An index may hold such a page after the coordinator's clock was set back.
#[tokio::test]
async fn a_page_from_the_future_in_the_index_is_found_and_replaced() {
    let ground = Ground::new().await;
    let running = ground.start().await;
    let agent = FakeAgent::crawling(&running).await;
    let index = &running.coordinator.packages.index;
    let fetched_at = UnixMillis(i64::MAX);
    let now = UnixMillis(i64::MAX);
    let future = index::Document {
        agent: agent.id,
        url: PAGE,
        canonical: None,
        title: "",
        headings: "",
        text: "future",
        max_snippet: None,
        lang: None,
        fetched_at,
        now,
    };
    index.upsert(&future).unwrap();
    index.commit(&index.progress()).unwrap();
    until_found(&running, "future").await;
    agent.ship_well(&running, 1, agent.package(1, &[page(PAGE, "", "present")])).await;
    until_found(&running, "present").await;
    running.stop().await;
}
