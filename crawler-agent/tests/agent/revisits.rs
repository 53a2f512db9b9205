//! Revisits by how often pages change.

use crawler_agent::frontier::{ChangeRate, HostBundle};
use model::{CrawlPolicy, HostTask};
use protocol::{HostOrder, page::Outcome};

use crate::{testbed::TestBed, web::Answer, web::html};

const LONGEST_S: u32 = 4;
const LEAST_S: u32 = 1;

fn policy(revisit_s: u32) -> CrawlPolicy {
    CrawlPolicy { host_delay_ms: 0, revisit_s, revisit_least_s: LEAST_S, ..CrawlPolicy::default() }
}

/// Puts what the next visits of the pages find.
fn change_pages(bed: &TestBed) {
    let news = bed.web.count("a1.test", "/news");
    bed.web.page("a1.test", "/news", html(&format!("<p>news {news}")));
    let stamped = bed.web.count("a1.test", "/stamped");
    let body = format!("<script>token = {stamped}</script><p data-ad={stamped}>the same");
    bed.web.page("a1.test", "/stamped", html(&body));
}

/// How often the page at this path changes, as the agent hands it over.
fn change_rate(bundle: &HostBundle, path: &str) -> ChangeRate {
    let page = bundle.pages.iter().find(|(_, page)| page.path == path);
    page.map(|(_, page)| page.changes).unwrap()
}

/// What the agent knows of the host when it hands it over.
async fn hand_over(bed: &TestBed) -> HostBundle {
    let host = bed.web.url("a1.test", "");
    let host = host.trim_end_matches('/').to_owned();
    let order = HostOrder { number: 1, host, task: HostTask::Release };
    bed.coordinator.change(|state| state.host_orders.push(order));
    bed.until("the host is handed over", |bed| bed.coordinator.state().confirmed == [1]).await;
    HostBundle::decode(&bed.coordinator.state().bundles[&1]).unwrap()
}

/// A sitemap that states of this page that it changes just now.
fn sitemap(url: &str) -> Answer {
    let now = jiff::Timestamp::now();
    let body = format!("<urlset><url><loc>{url}</loc><lastmod>{now}</lastmod></url></urlset>");
    Answer { headers: vec![("content-type", "text/xml".into())], ..html(&body) }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_changed_by_its_sitemap_is_visited_again_sooner() {
    let mut bed = TestBed::new(1).await;
    bed.coordinator.state().policy = policy(3_600);
    let pages = ["/changed", "/other"].map(|path| bed.web.page("a1.test", path, html("<p>text")));
    bed.start_approved().await;
    bed.coordinator.route(&pages);
    bed.until_reported(&pages).await;
    let sitemap = bed.web.page("a1.test", "/map.xml", sitemap(&pages[0]));
    bed.coordinator.route(std::slice::from_ref(&sitemap));
    bed.until_reported(&[sitemap]).await;
    let bundle = hand_over(&bed).await;
    let rate = |path| change_rate(&bundle, path);
    assert_eq!((rate("/changed").advance_s, rate("/other").advance_s), (1_800, 0));
    assert!(rate("/map.xml").text_hash.is_some(), "it has a rate of its own");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_changes_is_visited_more_often_than_one_that_does_not() {
    let mut bed = TestBed::new(1).await;
    bed.coordinator.state().policy = policy(3_600);
    change_pages(&bed);
    let steady = bed.web.page("a1.test", "/steady", html("<p>always the same"));
    let urls = [bed.web.url("a1.test", "/news"), steady, bed.web.url("a1.test", "/stamped")];
    bed.start_approved().await;
    bed.coordinator.route(&urls);
    bed.until_reported(&urls).await;
    // Pages that were visited under the former policy obey the new one.
    bed.coordinator.change(|state| state.policy = policy(LONGEST_S));
    let news_came = |bed: &TestBed| {
        change_pages(bed);
        bed.web.count("a1.test", "/news") >= 7
    };
    bed.until("the page that changes was visited often", news_came).await;

    let bundle = hand_over(&bed).await;
    let state = bed.coordinator.state();
    let rate = |path| change_rate(&bundle, path);
    let timing = |path| (rate(path).interval_s, rate(path).advance_s);
    assert_eq!(timing("/news"), (Some(LEAST_S), LONGEST_S - LEAST_S));
    for path in ["/steady", "/stamped"] {
        assert_eq!(timing(path), (Some(LONGEST_S), 0), "{path}");
        assert!(bed.web.count("a1.test", path) < bed.web.count("a1.test", "/news"), "{path}");
    }
    let sent_whole = |url: &String| {
        let is_page = |outcome: &Outcome| matches!(outcome, Outcome::Page(_));
        state.fetches().filter(|fetch| fetch.url == *url && is_page(&fetch.outcome)).count()
    };
    assert_eq!(sent_whole(&urls[1]), 1);
    assert!(sent_whole(&urls[2]) > 1, "what no reader sees is sent as before");
}
