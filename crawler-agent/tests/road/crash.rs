//! kill -9, outages, refusals: nothing is lost and nothing is told twice.

use std::{collections::BTreeMap, time::Duration};

use protocol::page::Outcome;
use rand::RngExt as _;

use crate::{town::Town, web::html};

fn farm(town: &Town, hosts: u8, pages: u32) -> Vec<String> {
    let mut urls = Vec::new();
    for host in (1..=hosts).map(|n| format!("a{n}.test")) {
        for n in 0..pages {
            let children = (2 * n + 1..=2 * n + 2).filter(|child| *child < pages);
            let links: Vec<String> =
                children.map(|child| format!("<a href=/p/{child}>a</a>")).collect();
            let links = links.concat();
            let away = format!("<a href=http://elsewhere.test/{n}>d</a>");
            urls.push(town.web.page(&host, &format!("/p/{n}"), html(&format!("{links}{away}"))));
        }
    }
    urls
}

#[tokio::test(flavor = "multi_thread")]
async fn kill_9_in_mid_crawl_loses_nothing() {
    const HOSTS: u8 = 6;
    const KILLS: usize = 8;
    let mut town = Town::new(HOSTS).await;
    let urls = farm(&town, HOSTS, 60);
    town.coordinator.approve();
    let seeds: Vec<String> = urls.iter().filter(|url| url.ends_with("/p/0")).cloned().collect();
    town.coordinator.route(&seeds);
    for _ in 0..KILLS {
        town.start().await;
        let before = town.web.books().hosts.values().map(|seen| seen.fetches.len()).sum::<usize>();
        let more = rand::rng().random_range(1..40);
        town.until("it crawls again", |town| {
            let now = town.web.books().hosts.values().map(|seen| seen.fetches.len()).sum::<usize>();
            now >= before + more || now >= urls.len()
        })
        .await;
        town.kill().await;
    }
    town.start().await;
    town.until_told(&urls).await;
    let delegation_table = town.coordinator.delegation_table();
    let mut results = BTreeMap::<&str, u32>::new();
    for fetch in delegation_table.fetches() {
        *results.entry(&fetch.url).or_default() += 1;
        assert!(matches!(fetch.outcome, Outcome::Page(_)), "{fetch:?}");
    }
    let twice = results.values().filter(|count| **count > 1).count();
    assert_eq!(twice, 0, "every result was integrated once: {results:?}");
    assert_eq!(delegation_table.discovered().len(), 60, "links were told once");
    let asked: u32 = town.web.books().hosts.values().flat_map(|seen| seen.fetches.values()).sum();
    let least = urls.len() as u32 + u32::from(HOSTS);
    let again = KILLS as u32 * u32::from(HOSTS);
    assert!(
        asked <= least + again,
        "{asked} requests for {least}, at most {again} were in flight at kills"
    );
    for n in 1..=HOSTS {
        let seen = town.web.seen(&format!("a{n}.test"));
        assert_eq!(seen.most_in_flight, 1);
        assert!(
            seen.least_gap.unwrap() >= Duration::from_millis(40),
            "also across kills: {:?}",
            seen.least_gap
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_outage_of_the_coordinator_delays_and_loses_nothing() {
    let mut town = Town::new(3).await;
    let urls = farm(&town, 3, 40);
    town.start_approved().await;
    let seeds: Vec<String> = urls.iter().filter(|url| url.ends_with("/p/0")).cloned().collect();
    town.coordinator.route(&seeds);
    town.until("some pages are fetched", |town| town.web.seen("a1.test").fetches.len() > 4).await;
    town.coordinator.go_away();
    let asked =
        |town: &Town| town.web.books().hosts.values().map(|seen| seen.fetches.len()).sum::<usize>();
    town.until("it has crawled everything without a coordinator", |town| {
        asked(town) == urls.len() + 3
    })
    .await;
    assert!(town.coordinator.delegation_table().fetches().count() < urls.len());
    town.coordinator.come_back().await;
    town.until_told(&urls).await;
    let delegation_table = town.coordinator.delegation_table();
    assert_eq!(delegation_table.fetches().count(), urls.len());
    assert!(delegation_table.sessions_sold >= 2, "the old session was forgotten");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_coordinator_that_can_not_just_now_is_asked_again() {
    let mut town = Town::new(1).await;
    let urls = farm(&town, 1, 5);
    town.coordinator.delegation_table().refuse_all = Some((503, "starting"));
    town.coordinator.approve();
    town.start().await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    town.coordinator.delegation_table().refuse_all = None;
    town.until("it has enrolled", |town| town.said("approved")).await;
    town.coordinator.delegation_table().refuse_packages = Some(507);
    town.coordinator.route(&urls[..1]);
    town.until("all is fetched", |town| town.web.seen("a1.test").fetches.len() == 6).await;
    assert_eq!(town.coordinator.delegation_table().packages.len(), 0);
    town.coordinator.delegation_table().refuse_packages = None;
    town.until_told(&urls).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_package_that_is_refused_for_good_is_kept_aside() {
    let mut town = Town::new(1).await;
    let urls = farm(&town, 1, 3);
    town.start_approved().await;
    town.coordinator.delegation_table().refuse_packages = Some(422);
    town.coordinator.route(&urls[..1]);
    let refused = town.data_dir().join("packages/refused");
    let kept = || std::fs::read_dir(&refused).map_or(0, Iterator::count);
    town.until("a package is kept aside", |_| kept() > 0).await;
    town.coordinator.delegation_table().refuse_packages = None;
    let later = town.web.page("a1.test", "/later", html("later"));
    town.coordinator.route(std::slice::from_ref(&later));
    town.until_told(&[later]).await;
}
