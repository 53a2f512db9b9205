//! Handover of hosts as bundles, from one frontier to another.

use delegation::calibration::Timing;
use model::{ErrorKind, HostTask, Slowdown};
use protocol::page::{ContentHash, Page};

use super::*;

const KEY: &str = "http://a.org";

fn page() -> Outcome {
    Outcome::Page(Page {
        status: 200,
        media_type: "text/html".into(),
        charset: "UTF-8".into(),
        lang: None,
        title: String::new(),
        headings: String::new(),
        text: String::new(),
        sha256: ContentHash([1; 32]),
        canonical: None,
        max_snippet: None,
        links: Vec::new(),
    })
}

fn learned() -> PageHistory {
    let mut past = PageHistory::default();
    for _ in 0..9 {
        past.get.observe(Slowdown::default(), Timing { ms: 20.0, bytes: 100 });
    }
    past
}

impl World {
    /// The next URL of the host was fetched at `at` and is a page with an ETag.
    fn visit_page(&self, at: UnixMillis, past: PageHistory) {
        let item = self.next(KEY).unwrap();
        let record = PageRecord {
            path: item.url.path_and_query().to_owned(),
            depth: item.depth,
            etag: Some("\"one\"".into()),
            last_modified: None,
            sha256: Some([1; 32]),
            past,
            changes: ChangeRate::default(),
        };
        self.apply(done_at(at, &item, page(), Some(record), &[], BOUNDS));
    }

    fn bundle(&self) -> HostBundle {
        self.frontier().bundle(self.host(KEY)).unwrap().unwrap()
    }

    fn hand_over(&self, number: u64) -> Vec<u8> {
        let host = self.host(KEY);
        let bundle = self.bundle();
        let accepted = bundle.record.accepted;
        let effect = self.apply(Change::HandOver { number, host, accepted });
        assert_eq!(effect.progress, Progress::Complete);
        bundle.encode().unwrap()
    }

    fn take_over(&self, bundle: &[u8], keeps_times: bool) -> Effect {
        self.apply(Change::TakeOver { bundle: bundle.to_vec(), keeps_times, at: NOW })
    }

    fn queue_of(&self) -> Vec<String> {
        self.bundle().queue.iter().map(|url| url.path.to_string()).collect()
    }
}

/// A host with a page, one that is gone, and a queue of three, of which one has failed once.
fn former() -> World {
    let world = World::new();
    for (seq, path) in (1..).zip(["page", "gone", "retried", "one", "two"]) {
        world.route(seq, &format!("{KEY}/{path}"));
    }
    let host = world.host(KEY);
    let rules = Robots::parse(b"User-agent: *\nCrawl-delay: 7\n");
    let state = RobotsState::Known { robots: rules, until: NOW.plus_ms(9_000) };
    world.apply(robots(host, state, &[], NOW));
    world.visit_page(NOW, learned());
    let item = world.next(KEY).unwrap();
    world.finish(&item, other(), &[]);
    let item = world.next(KEY).unwrap();
    let key = item.queue_key();
    let due = NOW.plus_ms(60_000);
    world.apply(Change::Retry { host, key, due, failures: 1 });
    world
}

#[test]
fn of_a_late_bundle_everything_is_fetched_again() {
    let bundle = HostBundle::decode(&former().hand_over(5)).unwrap();
    assert_eq!((bundle.pages.len(), bundle.seen.len()), (1, 1));
    assert!(bundle.record.failures > 0);
    let late = bundle.forget_fetched();
    assert_eq!(late.record.failures, 0, "its pauses are kept: nobody gave it up");
    assert!(!late.pages.iter().any(|(_, page)| page.has_content()));
    let next = World::new();
    next.take_over(&late.encode().unwrap(), true);
    let mut queue = next.queue_of();
    queue.sort();
    assert_eq!(queue, ["/one", "/page", "/retried", "/two"]);
    next.route(1, &format!("{KEY}/gone"));
    assert!(next.queue_of().iter().any(|path| path == "/gone"), "a link brings it back");
}

#[test]
fn the_next_agent_goes_on_where_the_former_one_stopped() {
    let mut former = former();
    former.frontier().checkpoint().unwrap();
    former.drop_from_memory();
    let before = former.bundle();
    let bytes = former.hand_over(5);
    former.restart();
    assert_eq!(former.frontier().host_number(KEY).unwrap(), None);
    assert_eq!(former.frontier().counts().unwrap().queued, 0);
    assert_eq!(former.frontier().orders_executed().unwrap(), [5]);

    let mut next = World::new();
    let effect = next.take_over(&bytes, true);
    assert_eq!(
        (effect.ready, effect.has_queued),
        (vec![(next.host(KEY), before.record.due)], true)
    );
    for _ in 0..2 {
        let after = next.bundle();
        let record = HostRecord { failures: 0, accepted: 4, ended: 0, ..before.record.clone() };
        assert_eq!(after.record, record, "this agent may reach the host, and one URL is no page");
        assert_eq!((&after.queue, &after.seen), (&before.queue, &before.seen));
        let snapshot = next.frontier().snapshot(next.host(KEY)).unwrap().unwrap();
        assert_eq!(snapshot.robots, None, "the next agent reads robots.txt itself");
        let (visited, page) = &after.pages[0];
        assert_eq!((*visited, page.etag.as_deref()), (NOW, Some("\"one\"")));
        assert!(!page.past.get.is_learning(), "the times are kept");
        assert_eq!(next.frontier().counts().unwrap().queued, 3);
        assert_eq!(next.next(KEY).unwrap().attempts, 1);
        next.restart();
    }
    for path in ["page", "gone", "one"] {
        let effect = next.route(1, &format!("{KEY}/{path}"));
        assert_eq!(effect.ready, [], "{path} was seen");
    }
}

#[test]
fn a_host_that_the_former_agent_gave_up_is_fetched_by_the_next() {
    let former = World::new();
    for (seq, path) in (1..).zip(["one", "two"]) {
        former.route(seq, &format!("{KEY}/{path}"));
    }
    let host = former.host(KEY);
    let failure = Failure::new(ErrorKind::Connection, "the host failed too often");
    let later = NOW.plus_ms(100_000);
    let key = former.next(KEY).unwrap().queue_key();
    former.apply(Change::Retry { host, key, due: NOW, failures: 1 });
    former.apply(Change::GiveUp { host, failure, failures: GIVE_UP, at: later });
    let bytes = former.hand_over(5);
    let next = World::new();
    let effect = next.take_over(&bytes, true);
    assert_eq!(effect.ready, [(next.host(KEY), NOW)], "the pause was the former agent's");
    assert_eq!(next.queue_of(), ["/one", "/two"]);
    assert_eq!(next.frontier().counts().unwrap().queued, 2);
    next.take_over(&bytes, true);
    assert_eq!(next.queue_of(), ["/one", "/two"]);
}

#[test]
fn a_pause_that_the_server_asked_for_holds_for_the_next_agent() {
    let former = World::new();
    former.route(1, &format!("{KEY}/one"));
    let item = former.next(KEY).unwrap();
    former.finish(&item, other(), &[]);
    let mut bundle = former.bundle();
    assert_eq!((bundle.queue.len(), bundle.record.failures), (0, 0), "the host has answered");
    bundle.record.due = NOW.plus_ms(3_600_000);
    let next = World::new();
    let effect = next.take_over(&bundle.encode().unwrap(), true);
    assert!(effect.ready.iter().all(|(_, due)| *due == bundle.record.due), "{effect:?}");
    assert_eq!(next.bundle().record.due, bundle.record.due);
}

#[test]
fn another_path_to_the_host_forgets_the_times() {
    let bytes = former().hand_over(5);
    let next = World::new();
    next.take_over(&bytes, false);
    assert!(next.bundle().pages[0].1.past.get.is_learning());
}

#[test]
fn a_bundle_joins_what_is_known_and_counts_once() {
    let bytes = former().hand_over(5);
    let next = World::new();
    // The front page and a URL of the bundle were routed before the bundle came.
    next.route(1, &format!("{KEY}/"));
    next.route(2, &format!("{KEY}/two"));
    next.take_over(&bytes, true);
    let joined = next.bundle();
    assert_eq!(next.queue_of(), ["/", "/two", "/retried", "/one"]);
    assert_eq!(joined.pages.len(), 1);
    assert_eq!(next.frontier().counts().unwrap().queued, 4);
    next.take_over(&bytes, true);
    assert_eq!(next.bundle(), joined);
}

#[test]
fn what_the_former_agent_fetched_waits_no_longer() {
    let bytes = former().hand_over(5);
    let before = HostBundle::decode(&bytes).unwrap();
    // The agent had the host before, died, and gets it back with the queue it had.
    let mut next = World::new();
    for (seq, path) in (1..).zip(["page", "gone", "retried", "new"]) {
        next.route(seq, &format!("{KEY}/{path}"));
    }
    next.frontier().checkpoint().unwrap();
    next.drop_from_memory();
    next.take_over(&bytes, true);
    for _ in 0..2 {
        let joined = next.bundle();
        assert_eq!(next.queue_of(), ["/retried", "/new", "/one", "/two"]);
        assert_eq!((&joined.pages, &joined.seen), (&before.pages, &before.seen));
        assert_eq!(joined.record.accepted, 6, "each URL counts once");
        assert_eq!(next.frontier().counts().unwrap().queued, 4);
        next.restart();
    }
}

#[test]
fn a_page_that_comes_during_its_own_visit_is_there_once() {
    let bytes = former().hand_over(5);
    let next = World::new();
    next.route(1, &format!("{KEY}/page"));
    let item = next.next(KEY).unwrap();
    next.take_over(&bytes, true);
    let path = item.url.path_and_query().to_owned();
    let record = PageRecord { path, etag: None, ..next.bundle().pages[0].1.clone() };
    next.apply(done_at(NOW, &item, page(), Some(record.clone()), &[], BOUNDS));
    assert_eq!(next.bundle().pages, [(NOW, record)]);
    assert_eq!(next.frontier().counts().unwrap().queued, 3);
}

#[test]
fn a_url_that_comes_again_during_its_own_visit_is_fetched_once() {
    let mut bundle = former().bundle();
    bundle.queue.clear();
    bundle.pages[0].1 = PageRecord::without_content("/page".into(), 0);
    let next = World::new();
    next.route(1, &format!("{KEY}/page"));
    let item = next.next(KEY).unwrap();
    let url = item.url.clone();
    let fetched = AdoptedUrl { url, depth: 0, redirects: 0, is_fetched: true };
    next.apply(Change::Adopt { urls: vec![fetched], at: NOW, bounds: BOUNDS });
    assert_eq!(next.queue_of(), [] as [&str; 0]);
    next.take_over(&bundle.encode().unwrap(), true);
    assert_eq!(next.queue_of(), ["/page"]);
    let record = PageRecord { sha256: Some([1; 32]), ..bundle.pages[0].1.clone() };
    next.apply(done_at(NOW, &item, page(), Some(record.clone()), &[], BOUNDS));
    assert_eq!((next.queue_of(), next.bundle().pages), (vec![], vec![(NOW, record)]));
    assert_eq!(next.frontier().counts().unwrap().queued, 0);
}

#[test]
fn what_others_fetched_waits_no_longer() {
    let mut world = World::new();
    for (seq, path) in (1..).zip(["one", "two", "three"]) {
        world.route(seq, &format!("{KEY}/{path}"));
    }
    let adopted = |path: &str, is_fetched| {
        let url = CrawlUrl::parse(&format!("{KEY}/{path}")).unwrap();
        AdoptedUrl { url, depth: 0, redirects: 0, is_fetched }
    };
    let urls = vec![adopted("two", true), adopted("four", true), adopted("five", false)];
    let adopt = Change::Adopt { urls, at: NOW, bounds: BOUNDS };
    for _ in 0..2 {
        world.apply(adopt.clone());
        assert_eq!(world.queue_of(), ["/one", "/three", "/five"]);
        assert_eq!(world.frontier().counts().unwrap().queued, 3);
        assert_eq!(world.bundle().record.accepted, 5);
        world.restart();
    }
    assert_eq!(world.route(4, &format!("{KEY}/four")).ready, []);
}

#[test]
fn pages_of_which_only_the_fetch_is_known_are_joined() {
    let bytes = former().hand_over(5);
    let before = HostBundle::decode(&bytes).unwrap();
    let next = World::new();
    let fetched = ["page", "gone"].map(|path| {
        let url = CrawlUrl::parse(&format!("{KEY}/{path}")).unwrap();
        AdoptedUrl { url, depth: 0, redirects: 0, is_fetched: true }
    });
    next.apply(Change::Adopt { urls: fetched.to_vec(), at: NOW, bounds: BOUNDS });
    for _ in 0..2 {
        next.take_over(&bytes, true);
        let joined = next.bundle();
        assert_eq!((&joined.pages, &joined.seen), (&before.pages, &before.seen));
        assert_eq!(joined.record.accepted, 5, "each URL counts once");
    }
}

#[test]
fn a_page_that_a_bundle_lists_twice_is_there_once() {
    let mut bundle = former().bundle();
    let (visited, page) = bundle.pages[0].clone();
    let forbidden = PageRecord { path: "/one".into(), etag: None, sha256: None, ..page.clone() };
    bundle.queue.clear();
    bundle.pages = vec![(visited, page.clone()), (visited, page), (visited, forbidden)];
    let next = World::new();
    next.route(1, &format!("{KEY}/page"));
    next.route(2, &format!("{KEY}/one"));
    next.take_over(&bundle.encode().unwrap(), true);
    assert_eq!((next.bundle().pages.len(), next.queue_of()), (1, vec!["/one".to_owned()]));
    assert_eq!(next.frontier().counts().unwrap().queued, 1);
}

#[test]
fn a_host_that_changed_since_its_bundle_was_made_stays() {
    let world = former();
    let host = world.host(KEY);
    let accepted = world.bundle().record.accepted;
    world.route(9, &format!("{KEY}/late"));
    let change = Change::HandOver { number: 5, host, accepted };
    assert_eq!(world.apply(change.clone()).progress, Progress::Outdated);
    assert_eq!(world.frontier().orders_executed().unwrap(), [] as [u64; 0]);
    assert!(world.queue_of().contains(&"/late".to_owned()));
    world.hand_over(5);
    world.route(10, &format!("{KEY}/again"));
    assert_eq!(
        world.apply(change).progress,
        Progress::Complete,
        "executed orders are not repeated"
    );
    assert_eq!(world.queue_of(), ["/again"]);
}

#[test]
fn invented_fingerprints_take_no_place_among_the_pages() {
    let mut bundle = former().bundle();
    bundle.seen = (0..5_000).collect();
    bundle.record.accepted = 100_000;
    let next = World::new();
    next.take_over(&bundle.encode().unwrap(), true);
    assert_eq!(next.bundle().record.accepted, 4);
    next.route(1, &format!("{KEY}/new"));
    assert!(next.queue_of().contains(&"/new".to_owned()));
}

#[test]
fn impossible_times_do_not_stop_a_host() {
    let mut bundle = former().bundle();
    bundle.record.due = UnixMillis(i64::MAX);
    bundle.pages[0].0 = UnixMillis(i64::MAX);
    let next = World::new();
    let effect = next.take_over(&bundle.encode().unwrap(), true);
    assert_eq!(effect.ready[0].1, NOW.plus_ms(24 * 3_600_000));
    assert_eq!(next.bundle().pages[0].0, NOW);
}

#[test]
fn urls_that_wait_are_kept_beside_pages_without_content() {
    let bundle = former().bundle();
    let (visited, page) = bundle.pages[0].clone();
    let depth = bundle.queue[0].depth;
    let mut larger = bundle.clone();
    for number in 0..bundle.queue.len() {
        let path = format!("/forbidden{number}");
        let page = PageRecord { path, depth, etag: None, sha256: None, ..page.clone() };
        larger.pages.push((visited, page));
    }
    larger.record.accepted += bundle.queue.len() as u32;
    let next = World::new();
    next.take_over(&larger.encode().unwrap(), true);
    let queue = next.queue_of();
    for url in &bundle.queue {
        assert!(queue.contains(&url.path.to_string()), "{} of {queue:?}", url.path);
    }
    assert_eq!(queue.len(), 2 * bundle.queue.len());
}

#[test]
fn a_host_with_too_many_urls_has_no_bundle() {
    let world = World::new();
    let urls: Vec<String> = (0..100_001).map(|n| format!("{KEY}/{n}")).collect();
    let many: Vec<(u64, &str)> = (1..).zip(urls.iter().map(String::as_str)).collect();
    world.apply(routes(&many, Bounds { pages_a_host: 1_000_000, depth: 1 }));
    assert_eq!(world.frontier().bundle(world.host(KEY)).unwrap(), None);
    let host = Some(world.host(KEY));
    let release = Change::Order { number: 1, host, task: HostTask::Release };
    assert_eq!(world.apply(release).progress, Progress::Partial);
}
