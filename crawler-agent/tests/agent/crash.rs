//! kill -9, outages and refusals: no result is lost, and none is reported twice.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use protocol::page::Outcome;
use rand::RngExt as _;

use crate::{
    testbed::TestBed,
    web::{Answer, html},
};

fn farm(bed: &TestBed, hosts: u8, pages: u32) -> Vec<String> {
    let mut urls = Vec::new();
    for host in (1..=hosts).map(|n| format!("a{n}.test")) {
        bed.web.name_sitemap(&host, "/p/0");
        for n in 0..pages {
            let children = (2 * n + 1..=2 * n + 2).filter(|child| *child < pages);
            let links: Vec<String> =
                children.map(|child| format!("<a href=/p/{child}>a</a>")).collect();
            let links = links.concat();
            let away = format!("<a href=http://other.test/{n}>d</a>");
            urls.push(bed.web.page(&host, &format!("/p/{n}"), html(&format!("{links}{away}"))));
        }
    }
    urls
}

#[tokio::test(flavor = "multi_thread")]
async fn kill_9_in_mid_crawl_loses_nothing() {
    const HOSTS: u8 = 6;
    const KILLS: usize = 50;
    const PAGES: u32 = 120;
    let mut bed = TestBed::new(HOSTS).await;
    let urls = farm(&bed, HOSTS, PAGES);
    bed.coordinator.approve();
    let seeds: Vec<String> = urls.iter().filter(|url| url.ends_with("/p/0")).cloned().collect();
    bed.coordinator.route(&seeds);
    for _ in 0..KILLS {
        bed.start().await;
        let before = bed.web.log().hosts.values().map(|seen| seen.fetches.len()).sum::<usize>();
        let more = rand::rng().random_range(1..25);
        bed.until("it crawls again", |bed| {
            let now = bed.web.log().hosts.values().map(|seen| seen.fetches.len()).sum::<usize>();
            now >= before + more || now >= urls.len()
        })
        .await;
        bed.kill().await;
    }
    bed.start().await;
    bed.until_reported(&urls).await;
    let state = bed.coordinator.state();
    let mut results = BTreeMap::<&str, u32>::new();
    for fetch in state.fetches() {
        *results.entry(&fetch.url).or_default() += 1;
        assert!(matches!(fetch.outcome, Outcome::Page(_)), "{fetch:?}");
    }
    let twice = results.values().filter(|count| **count > 1).count();
    assert_eq!(twice, 0, "every result was ingested once: {results:?}");
    let discovered: BTreeSet<String> = state.discovered().into_iter().collect();
    assert_eq!(discovered.len(), PAGES as usize, "every link was reported");
    let asked: u32 = bed.web.log().hosts.values().flat_map(|seen| seen.fetches.values()).sum();
    let least = urls.len() as u32 + u32::from(HOSTS);
    let repeated = KILLS as u32 * u32::from(HOSTS);
    assert!(
        asked <= least + repeated,
        "{asked} requests for {least}, at most {repeated} were in flight at kills"
    );
    for n in 1..=HOSTS {
        let seen = bed.web.seen(&format!("a{n}.test"));
        assert_eq!(seen.most_in_flight, 1);
        assert!(seen.least_gap.unwrap() >= Duration::from_millis(40), "{:?}", seen.least_gap);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_keeps_its_delay_across_a_kill() {
    const DELAY: Duration = Duration::from_secs(4);
    let mut bed = TestBed::new(1).await;
    bed.configure("limits", &format!("host_delay_ms = {}", DELAY.as_millis()));
    let endless = Answer { takes: DELAY * 10, ..html("slow") };
    let url = bed.web.page("a1.test", "/", endless);
    bed.start_approved().await;
    bed.coordinator.route(std::slice::from_ref(&url));
    bed.until("the request is under way", |bed| bed.web.count("a1.test", "/") == 1).await;
    bed.kill().await;
    bed.until("its end is noticed", |bed| bed.web.seen("a1.test").in_flight == 0).await;
    bed.web.page("a1.test", "/", html("fast"));
    bed.start().await;
    bed.until_reported(&[url]).await;
    let gap = bed.web.seen("a1.test").least_gap.unwrap();
    assert!(gap + Duration::from_millis(100) >= DELAY, "{gap:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_outage_of_the_coordinator_delays_and_loses_nothing() {
    let mut bed = TestBed::new(3).await;
    let urls = farm(&bed, 3, 40);
    bed.start_approved().await;
    let seeds: Vec<String> = urls.iter().filter(|url| url.ends_with("/p/0")).cloned().collect();
    bed.coordinator.route(&seeds);
    bed.until("some pages are fetched", |bed| bed.web.seen("a1.test").fetches.len() > 4).await;
    bed.coordinator.go_away();
    let asked =
        |bed: &TestBed| bed.web.log().hosts.values().map(|seen| seen.fetches.len()).sum::<usize>();
    bed.until("it has crawled everything without a coordinator", |bed| {
        asked(bed) == urls.len() + 3
    })
    .await;
    assert!(bed.coordinator.state().fetches().count() < urls.len());
    bed.coordinator.come_back().await;
    bed.until_reported(&urls).await;
    let state = bed.coordinator.state();
    assert_eq!(state.fetches().count(), urls.len());
    assert!(state.sessions_opened >= 2, "the old session was forgotten");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_waits_for_the_upgrade_of_its_coordinator_before_it_enrols() {
    let mut bed = TestBed::new(1).await;
    let detail = "the agent speaks protocol 11, this coordinator up to 8: update the coordinator";
    bed.coordinator.state().refuse_all = Some((426, detail));
    bed.start().await;
    bed.until("it has asked twice", |bed| bed.coordinator.state().calls_refused >= 2).await;
    bed.coordinator.state().refuse_all = None;
    bed.until("it has enrolled", |bed| bed.said("enrolled as agt_1 (pending)")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unavailable_coordinator_is_asked_again() {
    let mut bed = TestBed::new(1).await;
    let urls = farm(&bed, 1, 5);
    bed.coordinator.state().refuse_all = Some((503, "starting"));
    bed.coordinator.approve();
    bed.start().await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    bed.coordinator.state().refuse_all = None;
    bed.until("it has enrolled", |bed| bed.said("approved")).await;
    bed.coordinator.state().refuse_packages = Some(507);
    bed.coordinator.route(&urls[..1]);
    bed.until("all is fetched", |bed| bed.web.seen("a1.test").fetches.len() == 6).await;
    assert_eq!(bed.coordinator.state().packages.len(), 0);
    bed.coordinator.state().refuse_packages = None;
    bed.until_reported(&urls).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_package_that_is_refused_for_good_is_set_aside() {
    let mut bed = TestBed::new(1).await;
    // Without links, so that each is fetched when it is routed and has a package of its own.
    let urls = ["/1", "/2"].map(|path| bed.web.page("a1.test", path, html("page")));
    bed.start_approved().await;
    let refused = bed.data_dir().join("packages/refused");
    let kept = || std::fs::read_dir(&refused).map_or(0, Iterator::count);
    // Damaged, and a number under which another package was received.
    for (urls, status) in [(&urls[..1], 422), (&urls[1..2], 409)] {
        let before = kept();
        bed.coordinator.state().refuse_packages = Some(status);
        bed.coordinator.route(urls);
        bed.until("a package is set aside", |_| kept() > before).await;
    }
    let is_told = |bed: &TestBed| bed.status().contains("\"has_package_conflict\": true");
    bed.until("the status tells of the number", is_told).await;
    bed.coordinator.state().refuse_packages = None;
    let later = bed.web.page("a1.test", "/later", html("later"));
    bed.coordinator.route(std::slice::from_ref(&later));
    bed.until_reported(&[later]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_frontier_is_refused_and_rebuilt_on_request() {
    let mut bed = TestBed::new(1).await;
    let url = bed.web.page("a1.test", "/page", html("some text"));
    bed.start_approved().await;
    bed.coordinator.route(std::slice::from_ref(&url));
    bed.until_reported(std::slice::from_ref(&url)).await;
    assert!(bed.stop().await.0.success());
    let file = bed.data_dir().join("frontier/hosts.redb");
    let length = std::fs::metadata(&file).unwrap().len();
    std::fs::write(&file, vec![0xa5; usize::try_from(length).unwrap()]).unwrap();
    let refused = bed.run(&["run"]).await;
    assert_eq!(refused.status.code(), Some(73), "{refused:?}");
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(said.contains("hosts.redb"), "{said}");
    bed.start_with(&["run", "--rebuild"]).await;
    bed.until("it says what is lost", |bed| bed.said("hosts: 0 kept, an unknown number lost"))
        .await;
    let new = bed.web.page("a1.test", "/new", html("other text"));
    bed.coordinator.route(std::slice::from_ref(&new));
    bed.until_reported(std::slice::from_ref(&new)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_whose_log_nobody_reads_goes_on() {
    let mut bed = TestBed::new(1).await;
    let urls = farm(&bed, 1, 4);
    bed.coordinator.approve();
    bed.coordinator.route(&urls[..1]);
    bed.start_unread().await;
    bed.until_reported(&urls).await;
    assert!(bed.stop().await.0.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_that_broke_goes_on_after_a_restart() {
    let mut bed = TestBed::new(1).await;
    let url = bed.web.page("a1.test", "/", html("x"));
    bed.coordinator.state().cuts_packages = true;
    bed.start_approved().await;
    bed.coordinator.route(std::slice::from_ref(&url));
    bed.until("an upload broke", |bed| bed.coordinator.state().whole_uploads > 0).await;
    bed.kill().await;
    bed.coordinator.state().cuts_packages = false;
    bed.start().await;
    bed.until("the package is whole", |bed| !bed.coordinator.state().packages.is_empty()).await;
    let state = bed.coordinator.state();
    let first = *state.packages.keys().next().unwrap();
    assert!(!state.partial_packages.contains_key(&first), "it was resumed");
}
