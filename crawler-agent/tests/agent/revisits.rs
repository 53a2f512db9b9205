//! Revisits by how often pages change.

use crawler_agent::frontier::{ChangeRate, HostBundle};
use model::{CrawlPolicy, HostTask};
use protocol::{HostOrder, page::Outcome};

use crate::{testbed::TestBed, web::html};

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

    let host = bed.web.url("a1.test", "");
    let host = host.trim_end_matches('/').to_owned();
    let order = HostOrder { number: 1, host, task: HostTask::Release };
    bed.coordinator.change(|state| state.host_orders.push(order));
    bed.until("the host is handed over", |bed| bed.coordinator.state().confirmed == [1]).await;
    let state = bed.coordinator.state();
    let bundle = HostBundle::decode(&state.bundles[&1]).unwrap();
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
