//! Hosts that are let go, pages that are visited again, and leases.

use std::{collections::BTreeSet, time::Duration};

use protocol::{
    CrawlPolicy, HostOrder, HostTask, Slowdown,
    page::{Entry, Outcome, Trend},
};

use crate::{
    town::Town,
    web::{Answer, html, text},
};

fn order(number: u64, host: &str, task: HostTask) -> HostOrder {
    HostOrder { number, host: host.trim_end_matches('/').to_owned(), task }
}

fn handed_back(town: &Town) -> BTreeSet<String> {
    let delegation_table = town.coordinator.delegation_table();
    let back = delegation_table.entries.iter().filter_map(|entry| match entry {
        Entry::Discovered(told) if told.handed_back => Some(told.url.clone()),
        _ => None,
    });
    back.collect()
}

fn fetches(town: &Town, host: &str) -> u32 {
    town.web.seen(host).fetches.values().sum()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_is_let_go_whole_and_taken_up_again() {
    let mut town = Town::new(1).await;
    town.web.page("a1.test", "/robots.txt", text(""));
    let urls: Vec<String> = (0..30)
        .map(|n| {
            let page = Answer {
                takes: Duration::from_millis(60),
                ..html(&format!("<a href=/p/{}>next</a>", n + 1))
            };
            town.web.page("a1.test", &format!("/p/{n}"), page)
        })
        .collect();
    town.start_approved().await;
    town.coordinator.route(&urls);
    town.until("some pages are fetched", |town| fetches(town, "a1.test") > 4).await;
    let host = town.web.url("a1.test", "");
    town.coordinator.change(|delegation_table| {
        delegation_table.host_orders.push(order(5, &host, HostTask::Release));
    });
    town.until("it has let go", |town| town.coordinator.delegation_table().confirmed == [5]).await;
    let before = fetches(&town, "a1.test");
    let known = handed_back(&town);
    assert!(
        urls.iter().all(|url| known.contains(url)),
        "fetched or not, everything is handed back"
    );
    assert!(before < 31, "it did not finish the host first");

    // The host is the agent's again: everything counts as new.
    town.coordinator.route(&urls);
    let twice = |town: &Town| town.web.seen("a1.test").fetches.get("/p/0") == Some(&2);
    town.until("it is crawled again", twice).await;
    town.until_told(&urls).await;
    assert_eq!(town.web.seen("a1.test").most_in_flight, 1);
    assert_eq!(
        town.coordinator.delegation_table().heartbeats.last().unwrap().orders_done,
        [] as [u64; 0],
        "no stale word"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_survives_kill_nine_and_a_host_of_others_is_confirmed_at_once() {
    let mut town = Town::new(1).await;
    let urls: Vec<String> =
        (0..40).map(|n| town.web.page("a1.test", &format!("/p/{n}"), html("x"))).collect();
    town.start_approved().await;
    town.coordinator.route(&urls);
    town.until("a page is fetched", |town| fetches(town, "a1.test") > 1).await;
    town.kill().await;
    let host = town.web.url("a1.test", "");
    town.coordinator.change(|delegation_table| {
        delegation_table.host_orders.push(order(7, "http://nobody.test", HostTask::Release));
        delegation_table.host_orders.push(order(8, &host, HostTask::Release));
    });
    town.start().await;
    town.until("both are confirmed", |town| {
        town.coordinator.delegation_table().confirmed.len() == 2
    })
    .await;
    let known = handed_back(&town);
    let told = |url: &&String| {
        known.contains(*url) || town.coordinator.delegation_table().fetch(url).is_some()
    };
    assert_eq!(urls.iter().filter(told).count(), urls.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_are_visited_again_and_their_times_compared() {
    let mut town = Town::new(1).await;
    let slowdown = Some(Slowdown { percent: 200, repeats: 2 });
    town.coordinator.delegation_table().policy =
        CrawlPolicy { host_delay_ms: 0, revisit_s: 1, slowdown, ..CrawlPolicy::default() };
    let page = |takes| {
        let headers =
            vec![("content-type", "text/html".to_owned()), ("etag", "\"one\"".to_owned())];
        Answer { headers, takes: Duration::from_millis(takes), ..html("hello") }
    };
    let url = town.web.page("a1.test", "/", page(10));
    town.start_approved().await;
    town.coordinator.route(std::slice::from_ref(&url));
    let outcomes = |town: &Town, wanted: fn(&Outcome) -> bool| {
        town.coordinator.delegation_table().fetches().filter(|fetch| wanted(&fetch.outcome)).count()
    };
    let unchanged = |outcome: &Outcome| matches!(outcome, Outcome::Unchanged { status: 304 });
    town.until("it was visited again and again", |town| outcomes(town, unchanged) >= 7).await;
    assert_eq!(outcomes(&town, |outcome| matches!(outcome, Outcome::Page(_))), 1, "told once");
    town.web.page("a1.test", "/", page(400));
    let slower = |town: &Town| {
        let delegation_table = town.coordinator.delegation_table();
        delegation_table
            .fetches()
            .any(|fetch| matches!(fetch.trend, Some(Trend::Slower { ratio }) if ratio > 3.0))
    };
    town.until("it is told to be slower", slower).await;
    let host = town.web.url("a1.test", "");
    town.coordinator.change(|delegation_table| {
        delegation_table.host_orders.push(order(1, &host, HostTask::Settle));
    });
    town.until("it has settled", |town| town.coordinator.delegation_table().confirmed == [1]).await;
    let learning = |town: &Town| {
        town.coordinator
            .delegation_table()
            .fetches()
            .last()
            .is_some_and(|fetch| fetch.trend.is_none())
    };
    town.until("the slow time is the new usual", learning).await;
    town.web.page("a1.test", "/", html("other"));
    let changed = |town: &Town| outcomes(town, |outcome| matches!(outcome, Outcome::Page(_))) == 2;
    town.until("the change is told", changed).await;
    assert_eq!(
        town.web.seen("a1.test").fetches.get("/robots.txt"),
        Some(&1),
        "rules hold for a day"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_lease_nothing_is_fetched_until_the_coordinator_is_back() {
    let mut town = Town::new(1).await;
    let urls: Vec<String> =
        (0..3_000).map(|n| town.web.url("a1.test", &format!("/p/{n}"))).collect();
    town.coordinator.delegation_table().lease_ms = Some(1_500);
    // Heartbeats that are held renew nothing: the answer must come in time.
    town.configure("limits", "host_delay_ms = 100");
    town.start_approved().await;
    town.coordinator.route(&urls);
    town.until("it crawls", |town| fetches(town, "a1.test") > 3).await;
    town.coordinator.go_away();
    let status = |town: &Town| {
        std::fs::read_to_string(town.data_dir().join("status.json")).unwrap_or_default()
    };
    town.until("it waits", |town| status(town).contains("not_connected")).await;
    let before = fetches(&town, "a1.test");
    town.coordinator.change(|delegation_table| delegation_table.lease_ms = Some(3_600_000));
    town.coordinator.route(&[town.web.url("a1.test", "/news")]);
    town.coordinator.come_back().await;
    town.until("it goes on", |town| fetches(town, "a1.test") > before + 1).await;
}
