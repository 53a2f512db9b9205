//! Hosts that have not answered for long: searches, and what the dashboard says of them.

use model::ErrorKind;
use protocol::page::{Entry, Failure, Outcome};
use serde_json::{Value, json};

use crate::agent::{FakeAgent, PAGE, fetch, page};
use crate::browser::Browser;
use crate::world::{Ground, Running, until};

/// The entry as one of so many days ago.
fn days_ago(days: i64, entry: Entry) -> Entry {
    let Entry::Fetch(mut fetch) = entry else { panic!("no fetch: {entry:?}") };
    fetch.fetched_at = fetch.fetched_at.plus_ms(-days * 24 * 3_600_000);
    Entry::Fetch(fetch)
}

fn failed() -> Entry {
    fetch(PAGE, Outcome::Failed(Failure::new(ErrorKind::Connection, "no connection: refused")))
}

/// Ships a package, after which so many fetches of the host are known.
async fn ship(running: &Running, agent: &FakeAgent, seq: u64, entries: &[Entry], fetches: u64) {
    agent.ship_well(running, seq, agent.package(seq, entries)).await;
    until("the package is ingested", async || {
        let store = &running.coordinator.store;
        let hosts = store::host_list::named(store, "127.0.0.1").await.unwrap();
        hosts[0].fetches == fetches
    })
    .await;
    let coordinator = &running.coordinator;
    coordinator.silent_hosts.refresh(&coordinator.packages.index).await.unwrap();
}

async fn found(running: &Running) -> Value {
    Browser::new(running).read("/api/v1/search?q=harbour").await["total"].clone()
}

/// State of the inspector's last step, and what the page of the host says of its answers.
async fn shown(browser: &Browser) -> (Value, Value, bool) {
    let inspection = browser.read(&format!("/api/v1/explain?q={PAGE}")).await;
    let last = inspection["steps"].as_array().unwrap().last().unwrap();
    assert_eq!(last["step"], "index");
    let host = browser.read("/api/v1/hosts").await["items"][0]["id"].as_str().unwrap().to_owned();
    let details = browser.read(&format!("/api/v1/hosts/{host}")).await;
    let is_unanswered = !details["unanswered_since"].is_null();
    (last["state"].clone(), details["is_silent"].clone(), is_unanswered)
}

#[tokio::test]
async fn searches_leave_a_silent_host_out_until_it_answers() {
    let ground = Ground::new().await;
    let running = ground.start().await;
    let browser = Browser::signed_in(&ground, &running).await;
    let agent = FakeAgent::crawling(&running).await;
    let index = &running.coordinator.packages.index;

    let first = [days_ago(60, page(PAGE, "Front", "harbour")), days_ago(31, failed())];
    ship(&running, &agent, 1, &first, 2).await;
    until("the page is indexed", async || index.len() == 1).await;
    assert_eq!(found(&running).await, 1, "it has failed once");
    assert_eq!(shown(&browser).await, (json!("done"), json!(false), true));

    ship(&running, &agent, 2, &[days_ago(9, failed()), failed()], 4).await;
    assert_eq!(found(&running).await, 0);
    let silent = &running.coordinator.silent_hosts;
    assert_eq!((silent.count(), silent.limit()), (1, 2_000_000));
    assert_eq!(shown(&browser).await, (json!("stuck"), json!(true), true));

    ship(&running, &agent, 3, &[fetch(PAGE, Outcome::Unchanged { status: 304 })], 5).await;
    assert_eq!(found(&running).await, 1, "the index has kept it");
    assert_eq!(shown(&browser).await, (json!("done"), json!(false), false));
    running.stop().await;
}
