//! Crawling as it should be.

use std::{collections::BTreeSet, time::Duration};

use protocol::{
    AgentState, CrawlPolicy,
    page::{DisallowedBy, Outcome},
};

use crate::{
    town::{Town, address},
    web::{Answer, html, redirect, status, text},
};

const DELAY: Duration = Duration::from_millis(40);

/// A site of `pages` pages, each of which leads to the next ones, to a page that robots.txt
/// forbids, and away.
fn site(town: &Town, host: &str, pages: u32) -> Vec<String> {
    town.web.page(host, "/robots.txt", text("User-agent: *\nDisallow: /private/\n"));
    let urls = (0..pages).map(|n| {
        let links = format!("<a href=/p/{}>a</a><a href=/p/{}>b</a>", 2 * n + 1, 2 * n + 2);
        let away = format!("<a href=/private/{n}>c</a><a href=http://elsewhere.test/{n}>d</a>");
        town.web.page(
            host,
            &format!("/p/{n}"),
            html(&format!("<title>{host} {n}</title>{links}{away}")),
        )
    });
    urls.collect()
}

fn assert_polite(town: &Town, host: &str) {
    let seen = town.web.seen(host);
    assert_eq!(seen.most_in_flight, 1, "{host}");
    assert!(seen.least_gap.unwrap() >= DELAY, "{host}: {:?}", seen.least_gap);
    assert_eq!(seen.fetches.get("/robots.txt"), Some(&1), "{host}");
    let private = seen.fetches.keys().find(|path| path.starts_with("/private/"));
    assert_eq!(private, None, "{host}");
    let twice = seen.fetches.iter().find(|(_, count)| **count > 1);
    assert_eq!(twice, None, "{host}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_whole_road() {
    let mut town = Town::new(4).await;
    let hosts = ["a1.test", "a2.test", "a3.test", "b3.test"];
    let urls: Vec<String> = hosts.iter().flat_map(|host| site(&town, host, 20)).collect();
    town.start().await;
    town.until("the agent has enrolled", |town| town.said("enrolled as agt_1 (pending)")).await;
    town.coordinator.route(&hosts.map(|host| town.web.url(host, "/p/0")));
    town.until("it heartbeats", |town| !town.coordinator.delegation_table().heartbeats.is_empty())
        .await;
    assert!(town.web.books().hosts.is_empty(), "nothing is fetched before the approval");
    town.coordinator.approve();
    town.until("the approval has arrived", |town| town.said("approved")).await;
    town.until_told(&urls).await;
    let forbidden: Vec<String> = hosts
        .iter()
        .flat_map(|host| (0..20).map(|n| town.web.url(host, &format!("/private/{n}"))))
        .collect();
    town.until_told(&forbidden).await;
    for host in hosts {
        assert_polite(&town, host);
    }
    let shared = &town.web.books().addresses[&address(3).into()].clone();
    assert_eq!(shared.most_in_flight, 1, "two hosts at one address are one web server");
    {
        let delegation_table = town.coordinator.delegation_table();
        let page = delegation_table.fetch(&town.web.url("a1.test", "/p/3")).unwrap();
        let Outcome::Page(content) = &page.outcome else { panic!("{page:?}") };
        assert_eq!((content.title.as_str(), content.text.as_str()), ("a1.test 3", "abcd"));
        assert_eq!((content.status, content.links), (200, 4));
        assert_eq!(page.address, Some(address(1).into()));
        let timing = page.timing.unwrap();
        assert!(
            timing.first_byte_us >= 5_000 && timing.total_us >= timing.first_byte_us,
            "{timing:?}"
        );
        let by = Outcome::Disallowed { by: DisallowedBy::RobotsTxt };
        assert_eq!(delegation_table.fetch(&forbidden[0]).unwrap().outcome, by);
        let told: BTreeSet<String> = delegation_table.discovered().into_iter().collect();
        assert_eq!(told.len(), 20, "each once: {told:?}");
        assert_eq!(delegation_table.discovered().len(), 20);
        let fetched: BTreeSet<&str> =
            delegation_table.fetches().map(|fetch| fetch.url.as_str()).collect();
        assert_eq!(fetched.len(), delegation_table.fetches().count(), "one result for each URL");
    }
    let agents: Vec<String> = town.web.books().agents.keys().cloned().collect();
    assert_eq!(
        agents,
        [concat!("nearcrawl/", env!("CARGO_PKG_VERSION"), " (+https://owner.example/bot)")]
    );
    town.until("the outbox is empty and the routes are confirmed", |town| {
        let delegation_table = town.coordinator.delegation_table();
        delegation_table.heartbeats.last().is_some_and(|heartbeat| heartbeat.routes_after == 4)
    })
    .await;
    let (status, took) = town.stop().await;
    assert!(status.success() && took < Duration::from_secs(10), "{status} after {took:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restart_goes_on_where_it_stopped() {
    let mut town = Town::new(1).await;
    let urls = site(&town, "a1.test", 30);
    town.start_approved().await;
    town.coordinator.route(&urls[..1]);
    town.until("some pages are fetched", |town| town.web.seen("a1.test").fetches.len() > 8).await;
    let (status, _) = town.stop().await;
    assert!(status.success());
    let shipped = town.coordinator.delegation_table().fetches().count();
    assert!(shipped >= 7, "what was fetched is shipped before the end: {shipped}");
    town.start().await;
    town.until_told(&urls).await;
    assert_polite(&town, "a1.test");
    assert_eq!(town.coordinator.delegation_table().sessions_sold, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn crawl_delay_and_policy_count_when_they_are_longer() {
    let mut town = Town::new(2).await;
    for (host, robots) in [("a1.test", "User-agent: *\nCrawl-delay: 0.4"), ("a2.test", "")] {
        town.web.page(host, "/robots.txt", text(robots));
        for n in 0..4 {
            town.web.page(host, &format!("/{n}"), html(&format!("<a href=/{}>next</a>", n + 1)));
        }
    }
    town.coordinator.delegation_table().policy =
        CrawlPolicy { host_delay_ms: 150, ..CrawlPolicy::default() };
    town.start_approved().await;
    town.coordinator.route(&[town.web.url("a1.test", "/0"), town.web.url("a2.test", "/0")]);
    town.until_told(&["a1.test", "a2.test"].map(|host| town.web.url(host, "/3"))).await;
    let gap = |host| town.web.seen(host).least_gap.unwrap();
    assert!(gap("a1.test") >= Duration::from_millis(400), "{:?}", gap("a1.test"));
    let policy = gap("a2.test");
    assert!(
        (Duration::from_millis(150)..Duration::from_millis(400)).contains(&policy),
        "{policy:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn redirects_are_urls_of_their_own() {
    let mut town = Town::new(2).await;
    let away = town.web.url("a2.test", "/target");
    town.web.page("a1.test", "/robots.txt", redirect("/moved-robots"));
    town.web.page("a1.test", "/moved-robots", text("User-agent: *\nDisallow: /no"));
    town.web.page("a1.test", "/own", redirect("/landing"));
    town.web.page("a1.test", "/landing", html("landed"));
    town.web.page("a1.test", "/away", redirect(&away));
    town.web.page("a1.test", "/loop", redirect("/loop2"));
    town.web.page("a1.test", "/loop2", redirect("/loop"));
    for hop in 0..9 {
        town.web.page("a1.test", &format!("/hop{hop}"), redirect(&format!("/hop{}", hop + 1)));
    }
    town.start_approved().await;
    let paths = ["/own", "/away", "/loop", "/hop0", "/no"];
    town.coordinator.route(&paths.map(|path| town.web.url("a1.test", path)));
    town.until_told(
        &["/landing", "/loop2", "/hop5", "/no"].map(|path| town.web.url("a1.test", path)),
    )
    .await;
    town.until("the other host is told of", |town| {
        !town.coordinator.delegation_table().discovered().is_empty()
    })
    .await;
    assert_eq!(town.coordinator.delegation_table().discovered(), [away]);
    assert_eq!(town.web.count("a1.test", "/loop"), 1);
    assert_eq!((town.web.count("a1.test", "/hop5"), town.web.count("a1.test", "/hop6")), (1, 0));
    assert_eq!(
        (town.web.count("a1.test", "/no"), town.web.count("a1.test", "/moved-robots")),
        (0, 1)
    );
    assert_eq!(town.web.count("a2.test", "/target"), 0, "it is somebody else's");
    assert_eq!(town.web.seen("a1.test").most_in_flight, 1);
    assert!(town.web.seen("a1.test").least_gap.unwrap() >= DELAY, "hops are requests like others");
    let delegation_table = town.coordinator.delegation_table();
    let landing = &delegation_table.fetch(&town.web.url("a1.test", "/own")).unwrap().outcome;
    let location = town.web.url("a1.test", "/landing");
    assert_eq!(*landing, Outcome::Redirect { status: 302, location });
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_without_robots_is_free_and_one_that_can_not_tell_is_left_alone() {
    let mut town = Town::new(2).await;
    let free = town.web.page("a1.test", "/", html("free"));
    town.web.page("a2.test", "/robots.txt", status(503));
    let closed = town.web.page("a2.test", "/", html("not now"));
    town.start_approved().await;
    town.coordinator.route(&[free.clone(), closed.clone()]);
    town.until_told(&[free]).await;
    town.until("robots.txt is asked for again", |town| {
        town.web.count("a2.test", "/robots.txt") >= 3
    })
    .await;
    assert_eq!(town.web.count("a2.test", "/"), 0);
    town.web.page("a2.test", "/robots.txt", status(404));
    town.until_told(&[closed]).await;
    assert_eq!(town.web.count("a2.test", "/"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_asks_for_time_gets_it() {
    let mut town = Town::new(1).await;
    let busy = Answer {
        headers: vec![("retry-after", "1".into()), ("content-type", "text/html".into())],
        ..status(503)
    };
    let url = town.web.page("a1.test", "/busy", busy);
    town.start_approved().await;
    town.coordinator.route(std::slice::from_ref(&url));
    town.until("it was asked once", |town| town.web.count("a1.test", "/busy") == 1).await;
    town.web.page("a1.test", "/busy", html("now"));
    town.until_told(&[url]).await;
    assert_eq!(town.web.count("a1.test", "/busy"), 2);
    let outcome = town.coordinator.delegation_table().fetches().next().unwrap().outcome.clone();
    assert!(matches!(outcome, Outcome::Page(_)), "{outcome:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pause_stops_fetching_and_work_goes_on_after_it() {
    let mut town = Town::new(1).await;
    let urls = site(&town, "a1.test", 40);
    town.start_approved().await;
    town.coordinator.route(&urls[..1]);
    town.until("some pages are fetched", |town| town.web.seen("a1.test").fetches.len() > 5).await;
    town.coordinator.change(|delegation_table| delegation_table.state = AgentState::Paused);
    town.until("the pause has arrived", |town| town.said("paused")).await;
    let idle = |town: &Town| {
        let reason = town
            .coordinator
            .delegation_table()
            .heartbeats
            .last()
            .unwrap()
            .status
            .idle_reason
            .clone();
        reason.is_some_and(|reason| reason.contains("paused"))
    };
    town.until("the agent says that it is paused", idle).await;
    let before = town.web.seen("a1.test").fetches.len();
    tokio::time::sleep(DELAY * 10).await;
    assert!(town.web.seen("a1.test").fetches.len() <= before + 1, "at most what was going on");
    town.coordinator.approve();
    town.until_told(&urls).await;
    assert_polite(&town, "a1.test");
}

#[tokio::test(flavor = "multi_thread")]
async fn many_hosts_are_crawled_at_their_own_pace_all_at_once() {
    let mut town = Town::new(40).await;
    let hosts: Vec<String> = (1..=40).map(|n| format!("a{n}.test")).collect();
    let urls: Vec<String> = hosts.iter().flat_map(|host| site(&town, host, 10)).collect();
    town.configure("limits", "host_delay_ms = 250");
    town.start_approved().await;
    let started = std::time::Instant::now();
    town.coordinator
        .route(&hosts.iter().map(|host| town.web.url(host, "/p/0")).collect::<Vec<_>>());
    town.until_told(&urls).await;
    // Eleven requests to each host, ten pauses; one host after the other would take two minutes.
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
    let kib = rss_kib(town.pid());
    assert!(kib < 60 << 10, "{kib} KiB");
    println!("{kib} KiB after {} pages in {:?}", urls.len(), started.elapsed());
}

fn rss_kib(pid: i32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}
