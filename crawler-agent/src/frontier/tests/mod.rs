use std::path::{Path, PathBuf};

use model::{AgentId, ErrorKind};
use protocol::{
    Route,
    key::AgentKey,
    package::{self, PackageName},
    page::{Entry, Failure, Fetch, Outcome},
};
use tempfile::TempDir;

use super::*;

mod due_hosts;
mod durability;
mod handover;
mod inbox;
mod killed;
mod outside;
mod rebuild;
mod reference;
mod release;
mod retries;
mod revisits;
mod seen;
mod shares;
mod spellings;
mod traps;
mod window;
mod workbench;
mod workbench_rules;

const BOUNDS: Bounds = Bounds { pages_a_host: 1_000, depth: 25 };
const NOW: UnixMillis = UnixMillis(1_000_000);

struct World {
    dir: TempDir,
    frontier: Option<Frontier>,
}

fn with_work(frontier: &Frontier) -> Result<Vec<HostWithWork>, FrontierError> {
    let query = DueQuery { until: UnixMillis(i64::MAX), most: 999, revisit_period_ms: None };
    let mut found = frontier.due_hosts(query, |_| false)?.hosts;
    found.sort_unstable_by_key(|work| work.host);
    Ok(found)
}

impl World {
    fn new() -> Self {
        let dir = TempDir::new().unwrap();
        let frontier = Some(Frontier::open(&dir.path().join("frontier"), 7).unwrap());
        Self { dir, frontier }
    }

    fn path(&self) -> PathBuf {
        self.dir.path().join("frontier")
    }

    fn frontier(&self) -> &Frontier {
        self.frontier.as_ref().unwrap()
    }

    fn apply(&self, change: Change) -> Effect {
        self.frontier().apply(change).unwrap()
    }

    fn restart(&mut self) {
        self.frontier = None;
        self.frontier = Some(Frontier::open(&self.path(), 8).unwrap());
    }

    /// Drops every host that is on disk from memory.
    fn drop_from_memory(&self) {
        self.frontier().working().unwrap().state.hosts().shrink(0);
    }

    fn route(&self, seq: u64, url: &str) -> Effect {
        self.apply(routes(&[(seq, url)], BOUNDS))
    }

    fn host(&self, key: &str) -> HostNumber {
        self.frontier().host_number(key).unwrap().unwrap()
    }

    fn next(&self, key: &str) -> Option<QueueItem> {
        self.frontier().snapshot(self.host(key)).unwrap().unwrap().next
    }

    /// Results that are not packed.
    fn results(&self) -> Vec<(u64, Entry)> {
        decoded(self.frontier().oldest_results(u64::MAX).unwrap())
    }

    fn finish(&self, item: &QueueItem, outcome: Outcome, links: &[&str]) -> Effect {
        self.apply(done(item, outcome, links, BOUNDS))
    }
}

fn decoded(results: StoredResults) -> Vec<(u64, Entry)> {
    results.into_iter().map(|(order, bytes)| (order, packed_and_read(&bytes))).collect()
}

/// A result as the coordinator reads it.
fn packed_and_read(result: &[u8]) -> Entry {
    let key = AgentKey::from_seed([1; 32]);
    let entry = Entry::read(result).unwrap();
    let name = PackageName { agent: AgentId::new(1), epoch: 1, seq: 1 };
    let package = package::build(&[entry], name, UnixMillis(0), &key).unwrap();
    let opened = package::open(&package.bytes, &key.public()).unwrap();
    opened.entries().unwrap().next().unwrap().unwrap()
}

fn routes(routes: &[(u64, &str)], bounds: Bounds) -> Change {
    let routes = routes
        .iter()
        .map(|(seq, url)| Route { seq: *seq, url: (*url).to_owned(), redirects: 0 })
        .collect();
    Change::Routes { routes, at: NOW, bounds }
}

fn done(item: &QueueItem, outcome: Outcome, links: &[&str], bounds: Bounds) -> Change {
    done_at(NOW, item, outcome, None, links, bounds)
}

fn done_at(
    at: UnixMillis,
    item: &QueueItem,
    outcome: Outcome,
    page: Option<PageRecord>,
    links: &[&str],
    bounds: Bounds,
) -> Change {
    let fetch = Fetch {
        url: item.url.to_string(),
        fetched_at: at,
        address: None,
        timing: None,
        wire_bytes: 10,
        outcome,
        trend: None,
    };
    let links = links.iter().map(|link| CrawlUrl::parse(link).unwrap()).collect();
    let due = Some(NOW.plus_ms(1_000));
    Change::Done(Box::new(Done { page, links, due, ..Done::new(item, fetch, bounds) }))
}

fn robots(host: HostNumber, state: RobotsState, sitemaps: &[&str], due: UnixMillis) -> Change {
    let sitemaps = sitemaps.iter().map(|url| CrawlUrl::parse(url).unwrap()).collect();
    let reports = Vec::new();
    let state = Some(state);
    Change::Robots { host, state, sitemaps, reports, bounds: BOUNDS, due, failures: 0 }
}

fn other() -> Outcome {
    Outcome::Other { status: 404, media_type: None }
}

fn gone() -> Failure {
    Failure::new(ErrorKind::Connection, "gone")
}

fn redirect(location: &str) -> Outcome {
    Outcome::Redirect { status: 301, location: location.into() }
}

#[test]
fn a_routed_url_is_fetched_once_and_its_host_is_ours() {
    let world = World::new();
    let effect = world.route(1, "http://a.org/");
    assert_eq!(effect.ready, [(world.host("http://a.org"), NOW)]);
    assert_eq!(world.route(2, "http://a.org/#top").ready, []);
    let item = world.next("http://a.org").unwrap();
    assert_eq!((item.url.as_str(), item.depth), ("http://a.org/", 0));
    let effect = world.finish(&item, other(), &["http://a.org/"]);
    assert_eq!((effect.has_queued, effect.results), (false, true));
    assert_eq!(world.next("http://a.org"), None);
    assert_eq!(world.route(3, "http://a.org/").ready, []);
    let counts = world.frontier().counts().unwrap();
    assert_eq!((counts.hosts, counts.queued, counts.fetched, counts.wire_bytes), (1, 0, 1, 10));
    assert_eq!(counts.routes_after, 3);
}

#[test]
fn routes_that_were_stored_are_passed_over() {
    let world = World::new();
    world.apply(routes(&[(1, "http://a.org/1"), (2, "http://a.org/2")], BOUNDS));
    world.apply(routes(
        &[(1, "http://a.org/x"), (2, "http://a.org/y"), (3, "http://a.org/3")],
        BOUNDS,
    ));
    assert_eq!(world.frontier().counts().unwrap().queued, 3);
}

#[test]
fn a_host_is_crawled_breadth_first() {
    let world = World::new();
    world.route(1, "http://a.org/");
    let mut order = Vec::new();
    while let Some(item) = world.next("http://a.org") {
        let path = item.url.path_and_query().to_owned();
        let children = [format!("{}l", item.url), format!("{}r", item.url)];
        let links: Vec<&str> =
            children.iter().map(String::as_str).filter(|_| path.len() < 3).collect();
        world.finish(&item, other(), &links);
        order.push(path);
        if order.len() == 2 {
            world.route(2, "http://a.org/routed");
        }
    }
    assert_eq!(order, ["/", "/l", "/routed", "/r", "/ll", "/lr", "/rl", "/rr"]);
}

#[test]
fn links_to_other_hosts_are_told_once() {
    let world = World::new();
    world.route(1, "http://a.org/1");
    world.route(2, "http://a.org/2");
    for _ in 0..2 {
        let item = world.next("http://a.org").unwrap();
        world.finish(&item, other(), &["http://b.org/", "https://a.org/", "http://b.org/#x"]);
    }
    let reported: Vec<String> = world
        .results()
        .into_iter()
        .filter_map(|(_, entry)| match entry {
            Entry::Discovered(d) => Some(d.url),
            Entry::Fetch(_) => None,
        })
        .collect();
    assert_eq!(reported, ["http://b.org/", "https://a.org/"]);
    world.route(3, "http://b.org/");
    assert!(world.next("http://b.org").is_some(), "reported, then routed to us after all");
}

#[test]
fn redirects_become_urls_of_their_own_until_there_are_too_many() {
    let world = World::new();
    world.route(1, "http://a.org/0");
    for hop in 1..=6 {
        let item = world.next("http://a.org").unwrap();
        assert_eq!(item.redirects, hop - 1);
        world.finish(&item, redirect(&format!("http://a.org/{hop}")), &[]);
    }
    assert_eq!(world.next("http://a.org"), None, "the chain of more than five ends");
    world.route(2, "http://a.org/loop");
    let item = world.next("http://a.org").unwrap();
    world.finish(&item, redirect("http://a.org/loop"), &[]);
    assert_eq!(world.next("http://a.org"), None);
    world.route(3, "http://a.org/away");
    let item = world.next("http://a.org").unwrap();
    world.finish(&item, redirect("https://a.org/away"), &[]);
    let (_, last) = world.results().pop().unwrap();
    let Entry::Discovered(reported) = last else { panic!("{last:?}") };
    assert_eq!((reported.url.as_str(), reported.redirects), ("https://a.org/away", 1));
}

#[test]
fn bounds_are_kept() {
    let world = World::new();
    let bounds = Bounds { pages_a_host: 3, depth: 1 };
    world.apply(routes(&[(1, "http://a.org/")], bounds));
    let keep = |item: &QueueItem, link: &str| {
        let page = PageRecord::without_content(item.url.path_and_query().to_owned(), item.depth);
        world.apply(done_at(NOW, item, other(), Some(page), &[link], bounds))
    };
    keep(&world.next("http://a.org").unwrap(), "http://a.org/1");
    let item = world.next("http://a.org").unwrap();
    assert_eq!(item.depth, 1);
    keep(&item, "http://a.org/deeper");
    assert_eq!(world.frontier().counts().unwrap().queued, 0, "too deep");
    let urls = [(2, "http://a.org/2"), (3, "http://a.org/3"), (4, "ftp://a.org/"), (5, "rubbish")];
    let effect = world.apply(routes(&urls, bounds));
    assert!(effect.results);
    assert_eq!(world.frontier().counts().unwrap().queued, 1, "the third page is the last");
    let is_failure = |entry: &Entry| match entry {
        Entry::Fetch(fetch) => matches!(fetch.outcome, Outcome::Failed(_)),
        Entry::Discovered(_) => false,
    };
    let results = world.results();
    let failed = results.iter().filter(|(_, entry)| is_failure(entry));
    assert_eq!(failed.count(), 3, "routes that are not taken are answered");
}

#[test]
fn results_leave_when_they_are_sealed_and_packages_when_they_are_shipped() {
    let mut world = World::new();
    for seq in 1..=5 {
        world.route(seq, &format!("http://a.org/{seq}"));
        let item = world.next("http://a.org").unwrap();
        world.finish(&item, other(), &[]);
    }
    let first = world.frontier().oldest_results(1).unwrap();
    assert_eq!(first.len(), 1, "at least one, however small the bound");
    assert_eq!(world.frontier().next_package().unwrap(), 1);
    world.apply(Change::Sealed { seq: 1, through: first[0].0, bytes: 100 });
    assert_eq!(world.frontier().oldest_results(u64::MAX).unwrap().len(), 4);
    world.restart();
    assert_eq!(world.frontier().epoch(), 7, "the epoch stays");
    assert_eq!(world.frontier().next_package().unwrap(), 2);
    assert_eq!(world.frontier().packages().unwrap(), [1]);
    world.apply(Change::Shipped { seq: 1 });
    assert_eq!(world.frontier().packages().unwrap(), [] as [u64; 0]);
    assert_eq!(world.frontier().next_package().unwrap(), 2, "numbers are never used again");
}

#[test]
fn robots_and_due_times_survive_a_restart() {
    let mut world = World::new();
    world.route(1, "http://a.org/");
    world.route(2, "http://b.org/");
    let host = world.host("http://a.org");
    let state = RobotsState::Known {
        robots: Robots::parse(b"User-agent: *\nDisallow: /x\nCrawl-delay: 3"),
        until: UnixMillis(9),
    };
    let due = NOW.plus_ms(77);
    world.apply(robots(host, state.clone(), &[], due));
    world.apply(Change::Asked { host: world.host("http://b.org"), due: NOW.plus_ms(5) });
    world.restart();
    let robots = world.frontier().snapshot(host).unwrap().unwrap().robots;
    assert_eq!(robots.as_deref(), Some(&state));
    let work = with_work(world.frontier()).unwrap();
    let at = NOW.plus_ms(5);
    let host_b = world.host("http://b.org");
    let other = HostWithWork { host: host_b, due: at, work: at, crawl_delay_ms: 0 };
    assert_eq!(work, [HostWithWork { host, due, work: due, crawl_delay_ms: 3_000 }, other]);
}

#[test]
fn sitemaps_of_robots_txt_are_queued_or_reported_once() {
    let world = World::new();
    world.route(1, "http://a.org/page");
    world.route(2, "http://b.org/page");
    let host = world.host("http://a.org");
    let state = || RobotsState::Known { robots: Robots::allow_all(), until: NOW };
    let sitemaps = ["http://a.org/map.xml", "http://b.org/map.xml", "http://c.org/map.xml"];
    let effect = world.apply(robots(host, state(), &sitemaps, NOW));
    assert!(effect.has_queued && effect.results);
    let ready: Vec<HostNumber> = effect.ready.iter().map(|(host, _)| *host).collect();
    assert_eq!(ready, [host, world.host("http://b.org")]);
    let again = world.apply(robots(host, state(), &sitemaps, NOW));
    assert_eq!((again.ready, again.results), (Vec::new(), false));
    assert_eq!(world.frontier().counts().unwrap().queued, 4);
    let reported = world.results();
    assert!(matches!(&reported[..], [(_, Entry::Discovered(url))] if url.url == sitemaps[2]));
}

#[test]
fn two_agents_can_not_share_a_frontier() {
    let world = World::new();
    let error = Frontier::open(&world.path(), 1).err().unwrap();
    assert!(matches!(error, FrontierError::InUse(_)), "{error}");
    assert!(error.to_string().contains("another agent"));
}

#[test]
fn a_file_that_is_no_frontier_is_named() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("hosts.redb");
    std::fs::write(&path, vec![b'x'; 100_000]).unwrap();
    let error = Frontier::open(dir.path(), 1).err().unwrap();
    assert!(error.to_string().contains("hosts.redb"), "{error}");
}

#[tokio::test]
async fn the_handle_applies_changes_and_leaves_a_short_log() {
    let mut world = World::new();
    let (store, _failure) = FrontierHandle::start(world.frontier.take().unwrap()).unwrap();
    let urls: Vec<String> = (1..=300).map(|n| format!("http://h{n}.org/")).collect();
    let all: Vec<(u64, &str)> = (1..).zip(urls.iter().map(String::as_str)).collect();
    let ready = store.apply(routes(&all, BOUNDS)).unwrap().ready;
    store.sync().await.unwrap();
    let later = NOW.plus_ms(1);
    for (host, _) in &ready {
        assert!(store.apply(Change::Asked { host: *host, due: later }).unwrap().has_queued);
    }
    let due = store.read(with_work).await.unwrap();
    assert_eq!(due.iter().filter(|work| work.due == later).count(), 300);
    // The last handle ends the thread, which makes a checkpoint.
    drop(store);
    let log: u64 = log::segments(&world.path())
        .unwrap()
        .iter()
        .map(|number| log::read(&world.path(), *number).unwrap().changes.len() as u64)
        .sum();
    assert_eq!(log, 0);
    world.restart();
    assert_eq!(with_work(world.frontier()).unwrap(), due);
}
