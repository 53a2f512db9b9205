//! Handover of hosts as bundles: from an agent to the coordinator, and from it to an agent.

use std::time::Duration;

use model::{CrawlPolicy, HostTask};
use protocol::{BundleOffer, HostOrder, page::Entry, page::Outcome};

use crate::{
    testbed::TestBed,
    web::{Answer, html, text},
};

/// Pages of the host, each with an ETag, the first of which links to all others.
const PAGES: usize = 30;

struct Site {
    urls: Vec<String>,
    host: String,
}

/// A site whose pages take a while, so that it is released in the middle of its crawl.
fn site(bed: &TestBed) -> Site {
    bed.web.page("a1.test", "/robots.txt", text("User-agent: *\nAllow: /"));
    let urls = (0..PAGES).map(|n| {
        let headers = vec![("content-type", "text/html".to_owned()), ("etag", format!("\"{n}\""))];
        let page = Answer { headers, takes: Duration::from_millis(40), ..html("hello") };
        bed.web.page("a1.test", &format!("/p/{n}"), page)
    });
    let urls = urls.collect();
    Site { urls, host: bed.web.url("a1.test", "").trim_end_matches('/').to_owned() }
}

fn release(bed: &TestBed, number: u64, host: &str) {
    let task = HostTask::Release;
    let order = HostOrder { number, host: host.to_owned(), task };
    bed.coordinator.change(|state| state.host_orders.push(order));
}

fn offer(bed: &TestBed, number: u64, host: &str) {
    send_offer(bed, number, host, false);
}

fn send_offer(bed: &TestBed, number: u64, host: &str, is_late: bool) {
    let offer = BundleOffer { number, host: host.to_owned(), keeps_times: true, is_late };
    bed.coordinator.change(|state| state.offers.push(offer));
}

fn fetches(bed: &TestBed, path: &str) -> u32 {
    bed.web.seen("a1.test").fetches.get(path).copied().unwrap_or(0)
}

fn all_fetches(bed: &TestBed) -> u32 {
    (0..PAGES).map(|n| fetches(bed, &format!("/p/{n}"))).sum()
}

/// A site of which some pages are fetched.
async fn crawl_begun(bed: &mut TestBed) -> Site {
    let site = site(bed);
    bed.start_approved().await;
    bed.coordinator.route(&site.urls);
    bed.until("some pages are fetched", |bed| all_fetches(bed) > 4).await;
    site
}

fn is_handed_back(bed: &TestBed) -> bool {
    let state = bed.coordinator.state();
    state.entries.iter().any(|entry| matches!(entry, Entry::Discovered(url) if url.handed_back))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_leaves_as_a_bundle_and_is_taken_over_where_it_stopped() {
    let mut bed = TestBed::new(1).await;
    let site = crawl_begun(&mut bed).await;
    bed.coordinator.state().refuse_bundle_once = Some(503);
    release(&bed, 5, &site.host);
    bed.until("the release is confirmed", |bed| bed.coordinator.state().confirmed == [5]).await;
    let before = all_fetches(&bed);
    assert!(before < PAGES as u32, "it did not finish the host first");
    assert!(bed.coordinator.state().bundles.contains_key(&5), "sent again after the failure");
    assert!(!is_handed_back(&bed), "no URL is sent one by one");

    offer(&bed, 5, &site.host);
    bed.until("the rest is fetched", |bed| all_fetches(bed) == PAGES as u32).await;
    bed.until("the offer is settled", |bed| bed.coordinator.state().offers.is_empty()).await;
    bed.until_reported(&site.urls).await;
    assert!((0..PAGES).all(|n| fetches(&bed, &format!("/p/{n}")) == 1), "none is fetched twice");
    assert_eq!(bed.web.seen("a1.test").most_in_flight, 1);
    assert_eq!(fetches(&bed, "/robots.txt"), 2, "the next agent reads the rules itself");

    // What was fetched by the former agent is revisited with its validators.
    let policy = CrawlPolicy { host_delay_ms: 0, revisit_s: 1, ..CrawlPolicy::default() };
    bed.coordinator.change(|state| state.policy = policy);
    let unchanged = |bed: &TestBed| {
        let state = bed.coordinator.state();
        let revisits = state.fetches().filter(|fetch| {
            fetch.url == site.urls[0] && matches!(fetch.outcome, Outcome::Unchanged { status: 304 })
        });
        revisits.count() > 0
    };
    bed.until("the first page is revisited conditionally", unchanged).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_whose_results_did_not_count_are_fetched_again_as_new_ones() {
    let mut bed = TestBed::new(1).await;
    let site = crawl_begun(&mut bed).await;
    release(&bed, 5, &site.host);
    bed.until("the release is confirmed", |bed| bed.coordinator.state().confirmed == [5]).await;
    let before = all_fetches(&bed);
    send_offer(&bed, 5, &site.host, true);
    let all = before + PAGES as u32;
    bed.until("everything is fetched", |bed| all_fetches(bed) == all).await;
    bed.until("the offer is settled", |bed| bed.coordinator.state().offers.is_empty()).await;
    let is_page = |outcome: &Outcome| matches!(outcome, Outcome::Page(_));
    let pages = |bed: &TestBed| {
        let state = bed.coordinator.state();
        state.fetches().filter(|fetch| is_page(&fetch.outcome)).count()
    };
    bed.until("each is reported with its content", |bed| pages(bed) == all as usize).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bundle_survives_kill_9_before_it_was_sent() {
    let mut bed = TestBed::new(1).await;
    let site = crawl_begun(&mut bed).await;
    bed.coordinator.state().refuse_bundle_once = Some(503);
    release(&bed, 5, &site.host);
    let refused = |bed: &TestBed| bed.coordinator.state().refuse_bundle_once.is_none();
    bed.until("the first upload is refused", refused).await;
    bed.kill().await;
    let before = all_fetches(&bed);
    bed.start().await;
    bed.until("the release is confirmed", |bed| bed.coordinator.state().confirmed == [5]).await;
    assert!(bed.coordinator.state().bundles.contains_key(&5));
    assert_eq!(all_fetches(&bed), before, "nothing is fetched from a released host");
    offer(&bed, 5, &site.host);
    bed.until("the rest is fetched", |bed| all_fetches(bed) >= PAGES as u32).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn bundles_that_cannot_be_taken_do_not_stop_the_agent() {
    let mut bed = TestBed::new(1).await;
    let site = site(&bed);
    bed.start_approved().await;
    bed.coordinator.state().bundles.insert(6, "no bundle".into());
    offer(&bed, 6, &site.host);
    offer(&bed, 7, "http://missing.test");
    bed.until("both are settled", |bed| bed.coordinator.state().offers.is_empty()).await;
    bed.coordinator.route(&site.urls[..1]);
    bed.until_reported(&site.urls[..1]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn heartbeats_do_not_wait_for_a_slow_bundle() {
    let mut bed = TestBed::new(1).await;
    let site = crawl_begun(&mut bed).await;
    release(&bed, 5, &site.host);
    bed.until("the release is confirmed", |bed| bed.coordinator.state().confirmed == [5]).await;
    let before = all_fetches(&bed);
    bed.coordinator.state().holds_bundles = true;
    offer(&bed, 5, &site.host);
    bed.until("it is being read", |bed| bed.coordinator.state().bundles_being_read == 1).await;
    let heartbeats = bed.coordinator.state().heartbeats.len();
    let go_on = |bed: &TestBed| bed.coordinator.state().heartbeats.len() > heartbeats + 1;
    bed.until("heartbeats go on", go_on).await;
    assert_eq!(bed.coordinator.state().bundles_being_read, 1, "it is not begun again");
    bed.coordinator.change(|state| state.holds_bundles = false);
    bed.until("the offer is settled", |bed| bed.coordinator.state().offers.is_empty()).await;
    bed.until("the rest is fetched", |bed| all_fetches(bed) == PAGES as u32).await;
    assert!(before < PAGES as u32);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_leaves_hands_over_and_leaves_nothing_behind() {
    let mut bed = TestBed::new(1).await;
    let site = crawl_begun(&mut bed).await;
    release(&bed, 5, &site.host);
    let left = bed.run(&["leave", "--yes"]).await;
    assert!(left.status.success(), "{}", String::from_utf8_lossy(&left.stderr));
    assert!(bed.ended().await.success());
    assert!(!bed.data_dir().exists());
    let state = bed.coordinator.state();
    assert!(state.bundles.contains_key(&5), "the host leaves as a bundle");
    let reported = state.fetches().filter(|fetch| site.urls.contains(&fetch.url)).count();
    assert_eq!(reported, all_fetches(&bed) as usize, "every result is shipped");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_agent_leaves_as_well() {
    let mut bed = TestBed::new(1).await;
    bed.configure("", "spans = [\"mon 03:00-03:01\"]");
    bed.coordinator.approve();
    bed.start().await;
    bed.until("it is enrolled", |bed| bed.coordinator.state().key.is_some()).await;
    bed.stop().await;
    let left = bed.run(&["leave", "--yes"]).await;
    assert!(left.status.success(), "{}", String::from_utf8_lossy(&left.stderr));
    assert_eq!(bed.coordinator.state().state, model::AgentState::Revoked);
    assert!(!bed.data_dir().exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_is_not_deregistered_keeps_its_data() {
    let mut bed = TestBed::new(1).await;
    bed.start_approved().await;
    bed.stop().await;
    let version = "the agent speaks protocol 11, this coordinator up to 1: run an older agent";
    bed.coordinator.state().refuse_all = Some((426, version));
    let kept = bed.run(&["leave", "--yes"]).await;
    let said = String::from_utf8_lossy(&kept.stderr).into_owned();
    assert_eq!(kept.status.code(), Some(77), "{said}");
    assert!(said.contains("its data stays here") && said.contains(version), "{said}");
    assert!(bed.data_dir().join("identity.json").exists());
    bed.coordinator.change(|state| {
        state.refuse_all = None;
        state.refuse_nonces = 2;
    });
    let left = bed.run(&["leave", "--yes"]).await;
    assert!(left.status.success(), "{}", String::from_utf8_lossy(&left.stderr));
    assert_eq!(bed.coordinator.state().state, model::AgentState::Revoked);
    assert!(!bed.data_dir().exists());
}
