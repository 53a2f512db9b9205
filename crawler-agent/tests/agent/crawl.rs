//! Crawling of sites: order, politeness, robots rules, redirects.

use std::{
    collections::BTreeSet,
    io::Write as _,
    time::{Duration, Instant},
};

use flate2::{Compression, write::GzEncoder};
use model::{AgentState, CrawlPolicy};
use protocol::{page::DisallowedBy, page::Outcome};

use crate::{
    testbed::{TestBed, address},
    web::{Answer, html, redirect, status, text},
};

const DELAY: Duration = Duration::from_millis(40);

/// A site of `pages` pages, each of which leads to the next ones, to a page that robots.txt
/// forbids, and away.
fn site(bed: &TestBed, host: &str, pages: u32) -> Vec<String> {
    bed.web.page(host, "/robots.txt", text("User-agent: *\nDisallow: /private/\n"));
    let urls = (0..pages).map(|n| {
        let links = format!("<a href=/p/{}>a</a><a href=/p/{}>b</a>", 2 * n + 1, 2 * n + 2);
        let away = format!("<a href=/private/{n}>c</a><a href=http://other.test/{n}>d</a>");
        bed.web.page(
            host,
            &format!("/p/{n}"),
            html(&format!("<title>{host} {n}</title>{links}{away}")),
        )
    });
    urls.collect()
}

fn assert_polite(bed: &TestBed, host: &str) {
    let seen = bed.web.seen(host);
    assert_eq!(seen.most_in_flight, 1, "{host}");
    assert!(seen.least_gap.unwrap() >= DELAY, "{host}: {:?}", seen.least_gap);
    assert_eq!(seen.fetches.get("/robots.txt"), Some(&1), "{host}");
    let private = seen.fetches.keys().find(|path| path.starts_with("/private/"));
    assert_eq!(private, None, "{host}");
    let twice = seen.fetches.iter().find(|(_, count)| **count > 1);
    assert_eq!(twice, None, "{host}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_site_is_crawled_politely_from_enrolment_to_the_last_package() {
    let mut bed = TestBed::new(4).await;
    let hosts = ["a1.test", "a2.test", "a3.test", "b3.test"];
    let urls: Vec<String> = hosts.iter().flat_map(|host| site(&bed, host, 20)).collect();
    bed.start().await;
    bed.until("the agent has enrolled", |bed| bed.said("enrolled as agt_1 (pending)")).await;
    bed.coordinator.route(&hosts.map(|host| bed.web.url(host, "/p/0")));
    bed.until("a heartbeat has arrived", |bed| !bed.coordinator.state().heartbeats.is_empty())
        .await;
    assert!(bed.web.log().hosts.is_empty(), "nothing is fetched before the approval");
    bed.coordinator.approve();
    bed.until("the approval has arrived", |bed| bed.said("approved")).await;
    bed.until_reported(&urls).await;
    let forbidden: Vec<String> = hosts
        .iter()
        .flat_map(|host| (0..20).map(|n| bed.web.url(host, &format!("/private/{n}"))))
        .collect();
    bed.until_reported(&forbidden).await;
    for host in hosts {
        assert_polite(&bed, host);
    }
    let shared = &bed.web.log().addresses[&address(3).into()].clone();
    assert_eq!(shared.most_in_flight, 1, "two hosts at one address are one web server");
    assert!(shared.least_gap.unwrap() >= DELAY, "{:?}", shared.least_gap);
    {
        let state = bed.coordinator.state();
        let page = state.fetch(&bed.web.url("a1.test", "/p/3")).unwrap();
        let Outcome::Page(content) = &page.outcome else { panic!("{page:?}") };
        assert_eq!((content.title.as_str(), content.text.as_str()), ("a1.test 3", "abcd"));
        assert_eq!((content.status, content.links.len()), (200, 4));
        assert_eq!(page.address, Some(address(1).into()));
        let timing = page.timing.unwrap();
        assert!(
            timing.first_byte_us >= 5_000 && timing.total_us >= timing.first_byte_us,
            "{timing:?}"
        );
        let by = Outcome::Disallowed { by: DisallowedBy::RobotsTxt };
        assert_eq!(state.fetch(&forbidden[0]).unwrap().outcome, by);
        let discovered: BTreeSet<String> = state.discovered().into_iter().collect();
        assert_eq!(discovered.len(), 20, "each once: {discovered:?}");
        assert_eq!(state.discovered().len(), 20);
        let fetched: BTreeSet<&str> = state.fetches().map(|fetch| fetch.url.as_str()).collect();
        assert_eq!(fetched.len(), state.fetches().count(), "one result for each URL");
    }
    let agents: Vec<String> = bed.web.log().agents.keys().cloned().collect();
    assert_eq!(
        agents,
        [concat!("nearcrawl/", env!("CARGO_PKG_VERSION"), " (+https://owner.example/bot)")]
    );
    bed.until("the outbox is empty and the routes are confirmed", |bed| {
        let state = bed.coordinator.state();
        state.heartbeats.last().is_some_and(|heartbeat| heartbeat.routes_after == 4)
    })
    .await;
    let (status, took) = bed.stop().await;
    assert!(status.success() && took < Duration::from_secs(10), "{status} after {took:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restart_continues_the_crawl() {
    let mut bed = TestBed::new(1).await;
    let urls = site(&bed, "a1.test", 30);
    bed.start_approved().await;
    bed.coordinator.route(&urls[..1]);
    bed.until("some pages are fetched", |bed| bed.web.seen("a1.test").fetches.len() > 8).await;
    let (status, _) = bed.stop().await;
    assert!(status.success());
    let shipped = bed.coordinator.state().fetches().count();
    assert!(shipped >= 7, "what was fetched is shipped before the end: {shipped}");
    bed.start().await;
    bed.until_reported(&urls).await;
    assert_polite(&bed, "a1.test");
    assert_eq!(bed.coordinator.state().sessions_opened, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn crawl_delay_and_policy_count_when_they_are_longer() {
    let mut bed = TestBed::new(2).await;
    for (host, robots) in [("a1.test", "User-agent: *\nCrawl-delay: 0.4"), ("a2.test", "")] {
        bed.web.page(host, "/robots.txt", text(robots));
        for n in 0..4 {
            bed.web.page(host, &format!("/{n}"), html(&format!("<a href=/{}>next</a>", n + 1)));
        }
    }
    bed.coordinator.state().policy = CrawlPolicy { host_delay_ms: 150, ..CrawlPolicy::default() };
    bed.start_approved().await;
    bed.coordinator.route(&[bed.web.url("a1.test", "/0"), bed.web.url("a2.test", "/0")]);
    bed.until_reported(&["a1.test", "a2.test"].map(|host| bed.web.url(host, "/3"))).await;
    let gap = |host| bed.web.seen(host).least_gap.unwrap();
    assert!(gap("a1.test") >= Duration::from_millis(400), "{:?}", gap("a1.test"));
    let policy = gap("a2.test");
    assert!(
        (Duration::from_millis(150)..Duration::from_millis(400)).contains(&policy),
        "{policy:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn redirects_are_urls_of_their_own() {
    let mut bed = TestBed::new(2).await;
    let away = bed.web.url("a2.test", "/target");
    bed.web.page("a1.test", "/robots.txt", redirect("/moved-robots"));
    bed.web.page("a1.test", "/moved-robots", text("User-agent: *\nDisallow: /no"));
    bed.web.page("a1.test", "/own", redirect("/landing"));
    bed.web.page("a1.test", "/landing", html("landed"));
    bed.web.page("a1.test", "/away", redirect(&away));
    bed.web.page("a1.test", "/loop", redirect("/loop2"));
    bed.web.page("a1.test", "/loop2", redirect("/loop"));
    for hop in 0..9 {
        bed.web.page("a1.test", &format!("/hop{hop}"), redirect(&format!("/hop{}", hop + 1)));
    }
    bed.start_approved().await;
    let paths = ["/own", "/away", "/loop", "/hop0", "/no"];
    bed.coordinator.route(&paths.map(|path| bed.web.url("a1.test", path)));
    bed.until_reported(
        &["/landing", "/loop2", "/hop5", "/no"].map(|path| bed.web.url("a1.test", path)),
    )
    .await;
    bed.until("the other host is reported", |bed| !bed.coordinator.state().discovered().is_empty())
        .await;
    assert_eq!(bed.coordinator.state().discovered(), [away]);
    assert_eq!(bed.web.count("a1.test", "/loop"), 1);
    assert_eq!((bed.web.count("a1.test", "/hop5"), bed.web.count("a1.test", "/hop6")), (1, 0));
    assert_eq!(
        (bed.web.count("a1.test", "/no"), bed.web.count("a1.test", "/moved-robots")),
        (0, 1)
    );
    assert_eq!(bed.web.count("a2.test", "/target"), 0, "the host is not the agent's");
    assert_eq!(bed.web.seen("a1.test").most_in_flight, 1);
    assert!(bed.web.seen("a1.test").least_gap.unwrap() >= DELAY, "hops are requests like others");
    let state = bed.coordinator.state();
    let landing = &state.fetch(&bed.web.url("a1.test", "/own")).unwrap().outcome;
    let location = bed.web.url("a1.test", "/landing");
    assert_eq!(*landing, Outcome::Redirect { status: 302, location });
}

#[tokio::test(flavor = "multi_thread")]
async fn missing_robots_rules_allow_and_failing_ones_forbid() {
    let mut bed = TestBed::new(2).await;
    let free = bed.web.page("a1.test", "/", html("free"));
    bed.web.page("a2.test", "/robots.txt", status(503));
    let closed = bed.web.page("a2.test", "/", html("not now"));
    bed.start_approved().await;
    bed.coordinator.route(&[free.clone(), closed.clone()]);
    bed.until_reported(&[free]).await;
    bed.until("robots.txt is asked for again", |bed| bed.web.count("a2.test", "/robots.txt") >= 3)
        .await;
    assert_eq!(bed.web.count("a2.test", "/"), 0);
    bed.web.page("a2.test", "/robots.txt", status(404));
    bed.until_reported(&[closed]).await;
    assert_eq!(bed.web.count("a2.test", "/"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn retry_after_is_obeyed() {
    let mut bed = TestBed::new(1).await;
    let busy = Answer {
        headers: vec![("retry-after", "2".into()), ("content-type", "text/html".into())],
        ..status(503)
    };
    let url = bed.web.page("a1.test", "/busy", busy);
    bed.start_approved().await;
    bed.coordinator.route(std::slice::from_ref(&url));
    bed.until("it was asked once", |bed| bed.web.count("a1.test", "/busy") == 1).await;
    bed.web.page("a1.test", "/busy", html("now"));
    bed.until("it is asked again", |bed| bed.web.count("a1.test", "/busy") == 2).await;
    let gap = bed.web.first_gap("a1.test", "/busy");
    assert!(gap > Duration::from_millis(1_990), "{gap:?}");
    bed.until_reported(&[url]).await;
    assert_eq!(bed.web.count("a1.test", "/busy"), 2);
    let outcome = bed.coordinator.state().fetches().next().unwrap().outcome.clone();
    assert!(matches!(outcome, Outcome::Page(_)), "{outcome:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_in_trouble_is_asked_again_soon_and_never_given_up() {
    let mut bed = TestBed::new(1).await;
    let url = bed.web.page("a1.test", "/", status(502));
    let broken: Vec<String> =
        (0..6).map(|n| bed.web.page("a1.test", &format!("/{n}"), status(500))).collect();
    bed.start_approved().await;
    bed.coordinator.route(std::slice::from_ref(&url));
    bed.until("it was asked once", |bed| bed.web.count("a1.test", "/") == 1).await;
    bed.web.page("a1.test", "/", html("now"));
    bed.until_reported(std::slice::from_ref(&url)).await;
    bed.coordinator.route(&broken);
    bed.until_reported(&broken).await;
    let state = bed.coordinator.state();
    assert!(matches!(state.fetch(&url).unwrap().outcome, Outcome::Page(_)));
    for (n, url) in broken.iter().enumerate() {
        assert!(matches!(state.fetch(url).unwrap().outcome, Outcome::Other { status: 500, .. }));
        assert_eq!(bed.web.count("a1.test", &format!("/{n}")), 3);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn retry_after_of_robots_txt_is_obeyed() {
    let mut bed = TestBed::new(1).await;
    let busy = Answer { headers: vec![("retry-after", "2".into())], ..status(503) };
    bed.web.page("a1.test", "/robots.txt", busy);
    let url = bed.web.page("a1.test", "/", html("page"));
    bed.start_approved().await;
    bed.coordinator.route(std::slice::from_ref(&url));
    bed.until("robots.txt was asked for", |bed| bed.web.count("a1.test", "/robots.txt") == 1).await;
    bed.web.page("a1.test", "/robots.txt", status(404));
    bed.until("it is asked for again", |bed| bed.web.count("a1.test", "/robots.txt") == 2).await;
    let gap = bed.web.first_gap("a1.test", "/robots.txt");
    assert!(gap > Duration::from_millis(1_990), "{gap:?}");
    bed.until_reported(&[url]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_has_the_rules_of_others_keeps_its_delay() {
    let mut bed = TestBed::new(4).await;
    bed.web.page("a4.test", "/robots.txt", text("User-agent: *\nCrawl-delay: 0.4"));
    let first = bed.web.page("a4.test", "/", html("page"));
    let rules = bed.web.url("a4.test", "/robots.txt");
    let others = ["a1.test", "a2.test", "a3.test"].map(|host| {
        bed.web.page(host, "/robots.txt", redirect(&rules));
        bed.web.page(host, "/", html("page"))
    });
    bed.start_approved().await;
    bed.coordinator.route(std::slice::from_ref(&first));
    bed.until_reported(&[first]).await;
    bed.coordinator.route(&others);
    bed.until_reported(&others).await;
    assert_eq!(bed.web.count("a4.test", "/robots.txt"), 4);
    let gap = bed.web.seen("a4.test").least_gap.unwrap();
    assert!(gap >= Duration::from_millis(400), "{gap:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pause_by_an_admin_stops_fetching_until_its_end() {
    let mut bed = TestBed::new(1).await;
    let urls = site(&bed, "a1.test", 40);
    bed.start_approved().await;
    bed.coordinator.route(&urls[..1]);
    bed.until("some pages are fetched", |bed| bed.web.seen("a1.test").fetches.len() > 5).await;
    bed.coordinator.change(|state| state.state = AgentState::Paused);
    bed.until("the pause has arrived", |bed| bed.said("paused")).await;
    let idle = |bed: &TestBed| {
        let reason = bed.coordinator.state().heartbeats.last().unwrap().status.idle_reason.clone();
        reason.is_some_and(|reason| reason.contains("paused"))
    };
    bed.until("the agent says that it is paused", idle).await;
    let before = bed.web.seen("a1.test").fetches.len();
    tokio::time::sleep(DELAY * 10).await;
    assert!(bed.web.seen("a1.test").fetches.len() <= before + 1, "at most the running request");
    bed.coordinator.approve();
    bed.until_reported(&urls).await;
    assert_polite(&bed, "a1.test");
}

#[tokio::test(flavor = "multi_thread")]
async fn many_hosts_are_crawled_at_their_own_pace_all_at_once() {
    let mut bed = TestBed::new(40).await;
    let hosts: Vec<String> = (1..=40).map(|n| format!("a{n}.test")).collect();
    let urls: Vec<String> = hosts.iter().flat_map(|host| site(&bed, host, 10)).collect();
    bed.configure("limits", "host_delay_ms = 250");
    bed.start_approved().await;
    let started = Instant::now();
    bed.coordinator.route(&hosts.iter().map(|host| bed.web.url(host, "/p/0")).collect::<Vec<_>>());
    bed.until_reported(&urls).await;
    // Eleven requests to each host, ten pauses; one host after the other would take two minutes.
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
    let kib = rss_kib(bed.pid());
    assert!(kib < 60 << 10, "{kib} KiB");
    println!("{kib} KiB after {} pages in {:?}", urls.len(), started.elapsed());
}

fn rss_kib(pid: i32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn sitemaps_and_feeds_lead_to_their_pages() {
    let mut bed = TestBed::new(1).await;
    let typed = |media_type: &str, body: Vec<u8>| Answer {
        headers: vec![("content-type", media_type.into())],
        body,
        ..html("")
    };
    let pages: Vec<String> = ["/listed", "/news"]
        .map(|path| bed.web.page("a1.test", path, html(&format!("<p>page {path}"))))
        .into();
    let index = "<sitemapindex><sitemap><loc>/1.xml.gz</loc></sitemap></sitemapindex>";
    let index = bed.web.page("a1.test", "/sitemap.xml", typed("text/xml", index.into()));
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(b"<urlset><url><loc>/listed</loc></url></urlset>").unwrap();
    let packed = typed("application/x-gzip", packed.finish().unwrap());
    let sitemap = bed.web.page("a1.test", "/1.xml.gz", packed);
    let feed = "<rss><channel><item><link>/news</link></item></channel></rss>";
    let feed = bed.web.page("a1.test", "/feed", typed("application/rss+xml", feed.into()));
    bed.start_approved().await;
    // The index is named in robots.txt only.
    bed.web.page("a1.test", "/robots.txt", text(&format!("Sitemap: {index}")));
    bed.coordinator.route(std::slice::from_ref(&feed));
    let lists = [index, sitemap, feed];
    bed.until_reported(&lists).await;
    bed.until_reported(&pages).await;
    let state = bed.coordinator.state();
    for list in &lists {
        let outcome = &state.fetch(list).unwrap().outcome;
        assert!(matches!(outcome, Outcome::Other { status: 200, .. }), "{list}: {outcome:?}");
    }
    for page in &pages {
        let outcome = &state.fetch(page).unwrap().outcome;
        assert!(matches!(outcome, Outcome::Page(_)), "{page}: {outcome:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sitemaps_are_looked_for_where_robots_txt_names_none() {
    let mut bed = TestBed::new(4).await;
    let lists = |path: &str| Answer {
        headers: vec![("content-type", "text/xml".into())],
        ..html(&format!("<urlset><url><loc>{path}</loc></url></urlset>"))
    };
    // The first host has the file, the second has none, the third names another one, and the fourth
    // forbids it.
    let listed = bed.web.page("a1.test", "/listed", html("<p>listed"));
    bed.web.page("a1.test", "/sitemap.xml", lists("/listed"));
    let other = bed.web.page("a3.test", "/other.xml", lists("/listed"));
    bed.web.page("a3.test", "/robots.txt", text(&format!("Sitemap: {other}")));
    bed.web.page("a4.test", "/robots.txt", text("User-agent: *\nDisallow: /sitemap.xml"));
    let hosts = ["a1.test", "a2.test", "a3.test", "a4.test"];
    let starts: Vec<String> = hosts.map(|host| bed.web.page(host, "/", html("<p>x"))).into();
    bed.start_approved().await;
    bed.coordinator.route(&starts);
    let last = [listed, other, bed.web.url("a2.test", "/sitemap.xml")];
    bed.until_reported(&last).await;
    bed.until_reported(&[bed.web.url("a4.test", "/sitemap.xml")]).await;
    bed.until_reported(&[bed.web.url("a3.test", "/listed")]).await;
    let asked = hosts.map(|host| bed.web.count(host, "/sitemap.xml"));
    assert_eq!(asked, [1, 1, 0, 0]);
    let state = bed.coordinator.state();
    let forbidden = state.fetch(&bed.web.url("a4.test", "/sitemap.xml")).unwrap();
    assert_eq!(forbidden.outcome, Outcome::Disallowed { by: DisallowedBy::RobotsTxt });
}
