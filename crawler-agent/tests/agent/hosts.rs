//! Release of hosts, revisits of pages, and leases.

use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

use crawler_agent::frontier::HostBundle;
use model::{CrawlPolicy, HostTask, Slowdown};
use protocol::{HostOrder, page::Fetch, page::Outcome, page::Trend};

use crate::{
    testbed::{TestBed, address},
    web::{Answer, html, status, text},
};

fn order(number: u64, host: &str, task: HostTask) -> HostOrder {
    let host = host.trim_end_matches('/').to_owned();
    HostOrder { number, host, task }
}

/// The URLs in the bundle with which a host was released.
fn handed_over(bed: &TestBed, order: u64) -> BTreeSet<String> {
    let bundle = HostBundle::decode(&bed.coordinator.state().bundles[&order]).unwrap();
    let queued = bundle.queue.iter().map(|url| &*url.path);
    let paths = queued.chain(bundle.pages.iter().map(|(_, page)| page.path.as_str()));
    paths.map(|path| format!("{}{path}", bundle.record.key)).collect()
}

fn fetches(bed: &TestBed, host: &str) -> u32 {
    bed.web.seen(host).fetches.values().sum()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_released_host_is_handed_over_whole_and_can_return() {
    let mut bed = TestBed::new(1).await;
    bed.web.page("a1.test", "/robots.txt", text(""));
    let urls: Vec<String> = (0..30)
        .map(|n| {
            let page = Answer {
                takes: Duration::from_millis(60),
                ..html(&format!("<a href=/p/{}>next</a>", n + 1))
            };
            bed.web.page("a1.test", &format!("/p/{n}"), page)
        })
        .collect();
    bed.start_approved().await;
    bed.coordinator.route(&urls);
    bed.until("some pages are fetched", |bed| fetches(bed, "a1.test") > 4).await;
    let host = bed.web.url("a1.test", "");
    bed.coordinator.change(|state| {
        state.host_orders.push(order(5, &host, HostTask::Release));
    });
    bed.until("the release is confirmed", |bed| bed.coordinator.state().confirmed == [5]).await;
    let before = fetches(&bed, "a1.test");
    let known = handed_over(&bed, 5);
    assert!(urls.iter().all(|url| known.contains(url)), "fetched or not");
    assert!(before < 31, "it did not finish the host first");

    // The host is the agent's again: everything counts as new.
    bed.coordinator.route(&urls);
    let twice = |bed: &TestBed| bed.web.seen("a1.test").fetches.get("/p/0") == Some(&2);
    bed.until("it is crawled again", twice).await;
    bed.until_reported(&urls).await;
    assert_eq!(bed.web.seen("a1.test").most_in_flight, 1);
    assert_eq!(
        bed.coordinator.state().heartbeats.last().unwrap().orders_done,
        [] as [u64; 0],
        "no stale confirmation"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn orders_survive_kill_9_and_unknown_hosts_are_confirmed_at_once() {
    let mut bed = TestBed::new(1).await;
    let urls: Vec<String> =
        (0..40).map(|n| bed.web.page("a1.test", &format!("/p/{n}"), html("x"))).collect();
    bed.start_approved().await;
    bed.coordinator.route(&urls);
    bed.until("a page is fetched", |bed| fetches(bed, "a1.test") > 1).await;
    bed.kill().await;
    let host = bed.web.url("a1.test", "");
    bed.coordinator.change(|state| {
        state.host_orders.push(order(7, "http://nobody.test", HostTask::Release));
        state.host_orders.push(order(8, &host, HostTask::Release));
    });
    bed.start().await;
    bed.until("both are confirmed", |bed| bed.coordinator.state().confirmed.len() == 2).await;
    let known = handed_over(&bed, 8);
    let is_reported =
        |url: &&String| known.contains(*url) || bed.coordinator.state().fetch(url).is_some();
    assert_eq!(urls.iter().filter(is_reported).count(), urls.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn revisits_try_all_addresses_of_a_host() {
    let mut bed = TestBed::new(1).await;
    bed.coordinator.state().policy =
        CrawlPolicy { host_delay_ms: 0, revisit_s: 1, ..CrawlPolicy::default() };
    let url = bed.web.page("half.test", "/", html("hello"));
    bed.start_approved().await;
    bed.coordinator.route(std::slice::from_ref(&url));
    let revisits = |bed: &TestBed| {
        let state = bed.coordinator.state();
        let is_unchanged = |fetch: &&Fetch| matches!(fetch.outcome, Outcome::Unchanged { .. });
        state.fetches().filter(|fetch| fetch.url == url).filter(is_unchanged).count()
    };
    bed.until("it was revisited", |bed| revisits(bed) >= 2).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_that_does_not_answer_is_not_tried_for_each_url() {
    let mut bed = TestBed::new(1).await;
    bed.web.name_sitemap("half.test", "/0");
    let page = |n| bed.web.page("half.test", &format!("/{n}"), html("hello"));
    let urls: Vec<String> = (0..6).map(page).collect();
    bed.start_approved().await;
    bed.coordinator.route(&urls);
    bed.until_reported(&urls).await;
    let log = crawler_agent::activity_log::entries(&bed.data_dir().join("activity"), None);
    let at_dead = log.unwrap().filter(|entry| entry.address == Some(address(0).into())).count();
    assert_eq!(at_dead, 1, "only before the other address has answered");
}

#[tokio::test(flavor = "multi_thread")]
async fn revisits_of_a_server_in_trouble_become_rare() {
    let mut bed = TestBed::new(1).await;
    bed.coordinator.state().policy =
        CrawlPolicy { host_delay_ms: 0, revisit_s: 1, ..CrawlPolicy::default() };
    bed.web.name_sitemap("a1.test", "/0");
    let path = |n| format!("/{n}");
    let urls: Vec<String> =
        (0..30).map(|n| bed.web.page("a1.test", &path(n), html("hello"))).collect();
    bed.start_approved().await;
    bed.coordinator.route(&urls);
    bed.until_reported(&urls).await;
    (0..30).for_each(|n| _ = bed.web.page("a1.test", &path(n), status(502)));
    let before = fetches(&bed, "a1.test");
    bed.until("it was tried again", |bed| fetches(bed, "a1.test") >= before + 7).await;
    let mut begun: Vec<Instant> = bed.web.seen("a1.test").begun.into_values().flatten().collect();
    begun.sort_unstable();
    let last_gap = begun[begun.len() - 1] - begun[begun.len() - 2];
    assert!(last_gap > Duration::from_secs(1), "{last_gap:?} after some failures");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_not_fetched_again() {
    let mut bed = TestBed::new(1).await;
    bed.coordinator.state().policy =
        CrawlPolicy { host_delay_ms: 0, revisit_s: 1, ..CrawlPolicy::default() };
    bed.web.name_sitemap("a1.test", "/map.xml");
    let typed = |path: &str, media_type: &str, body: &str| {
        let headers = vec![("content-type", media_type.into())];
        bed.web.page("a1.test", path, Answer { headers, ..html(body) })
    };
    let urls = [
        typed("/map.xml", "text/xml", "<urlset/>"),
        typed("/picture", "image/png", "png"),
        typed("/paper.pdf", "application/pdf", "pdf"),
    ];
    bed.start_approved().await;
    bed.coordinator.route(&urls);
    bed.until("the list was visited again", |bed| bed.web.count("a1.test", "/map.xml") >= 3).await;
    let counts = ["/picture", "/paper.pdf"].map(|path| bed.web.count("a1.test", path));
    assert_eq!(counts, [1, 1]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sitemap_that_is_made_later_is_found() {
    let mut bed = TestBed::new(1).await;
    bed.coordinator.state().policy =
        CrawlPolicy { host_delay_ms: 0, revisit_s: 1, ..CrawlPolicy::default() };
    let url = bed.web.page("a1.test", "/", html("hello"));
    let listed = bed.web.page("a1.test", "/listed", html("listed"));
    bed.start_approved().await;
    bed.coordinator.route(&[url]);
    bed.until("it is missing", |bed| bed.web.count("a1.test", "/sitemap.xml") == 1).await;
    bed.web.page("a1.test", "/sitemap.xml", html("<urlset><url><loc>/listed</loc></url></urlset>"));
    bed.until_reported(&[listed]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_are_revisited_and_their_times_compared() {
    let mut bed = TestBed::new(1).await;
    let slowdown = Some(Slowdown { percent: 200, repeats: 2 });
    bed.coordinator.state().policy =
        CrawlPolicy { host_delay_ms: 0, revisit_s: 1, slowdown, ..CrawlPolicy::default() };
    let page = |takes| {
        let headers =
            vec![("content-type", "text/html".to_owned()), ("etag", "\"one\"".to_owned())];
        Answer { headers, takes: Duration::from_millis(takes), ..html("hello") }
    };
    let url = bed.web.page("a1.test", "/", page(10));
    bed.start_approved().await;
    bed.coordinator.route(std::slice::from_ref(&url));
    let outcomes = |bed: &TestBed, wanted: fn(&Outcome) -> bool| {
        bed.coordinator.state().fetches().filter(|fetch| wanted(&fetch.outcome)).count()
    };
    let unchanged = |outcome: &Outcome| matches!(outcome, Outcome::Unchanged { status: 304 });
    bed.until("it was revisited several times", |bed| outcomes(bed, unchanged) >= 7).await;
    assert_eq!(outcomes(&bed, |outcome| matches!(outcome, Outcome::Page(_))), 1, "reported once");
    bed.web.page("a1.test", "/", page(400));
    let slower = |bed: &TestBed| {
        let state = bed.coordinator.state();
        state
            .fetches()
            .any(|fetch| matches!(fetch.trend, Some(Trend::Slower { ratio }) if ratio > 3.0))
    };
    bed.until("it is reported as slower", slower).await;
    let host = bed.web.url("a1.test", "");
    bed.coordinator.change(|state| {
        state.host_orders.push(order(1, &host, HostTask::Settle));
    });
    bed.until("it has settled", |bed| bed.coordinator.state().confirmed == [1]).await;
    let learning = |bed: &TestBed| {
        bed.coordinator.state().fetches().last().is_some_and(|fetch| fetch.trend.is_none())
    };
    bed.until("the slow time is the new usual", learning).await;
    bed.web.page("a1.test", "/", html("other"));
    let changed = |bed: &TestBed| outcomes(bed, |outcome| matches!(outcome, Outcome::Page(_))) == 2;
    bed.until("the change is reported", changed).await;
    assert_eq!(
        bed.web.seen("a1.test").fetches.get("/robots.txt"),
        Some(&1),
        "rules hold for a day"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_that_a_restored_coordinator_lost_are_sent_whole_once_more() {
    let mut bed = TestBed::new(1).await;
    bed.coordinator.state().policy =
        CrawlPolicy { host_delay_ms: 0, revisit_s: 1, ..CrawlPolicy::default() };
    let headers = vec![("content-type", "text/html".to_owned()), ("etag", "\"one\"".to_owned())];
    let url = bed.web.page("a1.test", "/", Answer { headers, ..html("hello") });
    bed.start_approved().await;
    bed.coordinator.route(std::slice::from_ref(&url));
    let count = |bed: &TestBed, wanted: fn(&Outcome) -> bool| {
        bed.coordinator.state().fetches().filter(|fetch| wanted(&fetch.outcome)).count()
    };
    let pages = |bed: &TestBed| count(bed, |outcome| matches!(outcome, Outcome::Page(_)));
    let unchanged =
        |bed: &TestBed| count(bed, |outcome| matches!(outcome, Outcome::Unchanged { .. }));
    bed.until("it is unchanged", |bed| unchanged(bed) >= 1).await;
    assert_eq!(pages(&bed), 1);
    bed.stop().await;
    bed.coordinator.change(|state| {
        let last = state.fetches().last().map(|fetch| fetch.fetched_at);
        state.contents_lost_before = last.map(|last| last.plus_ms(1));
    });
    bed.start().await;
    bed.until("it is sent again", |bed| pages(bed) == 2).await;
    let before = unchanged(&bed);
    bed.until("it is unchanged again", |bed| unchanged(bed) > before + 1).await;
    assert_eq!(pages(&bed), 2, "once");
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_fetched_after_the_end_of_the_lease() {
    let mut bed = TestBed::new(1).await;
    let urls: Vec<String> =
        (0..3_000).map(|n| bed.web.url("a1.test", &format!("/p/{n}"))).collect();
    bed.coordinator.state().lease_ms = 1_500;
    // Heartbeats that are held renew nothing: the answer must come in time.
    bed.configure("limits", "host_delay_ms = 100");
    bed.start_approved().await;
    bed.coordinator.route(&urls);
    bed.until("it crawls", |bed| fetches(bed, "a1.test") > 3).await;
    let is_connected = |bed: &TestBed| {
        let status = bed.status();
        !status.is_empty() && !status.contains("not_connected")
    };
    bed.until("its status says so", is_connected).await;
    bed.coordinator.go_away();
    bed.until("it waits", |bed| !is_connected(bed)).await;
    let before = fetches(&bed, "a1.test");
    // Ten times the delay of the host: an agent that went on would be seen.
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(fetches(&bed, "a1.test") <= before + 1, "at most the request that was under way");
    let before = fetches(&bed, "a1.test");
    bed.coordinator.change(|state| state.lease_ms = 3_600_000);
    bed.coordinator.route(&[bed.web.url("a1.test", "/news")]);
    bed.coordinator.come_back().await;
    bed.until("it goes on", |bed| fetches(bed, "a1.test") > before + 1).await;
}
