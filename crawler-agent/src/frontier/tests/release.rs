//! Release of hosts, and revisits of pages.

use model::{HostTask, Slowdown};
use protocol::page::{ContentHash, Page};

use super::*;

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

fn record(url: &str) -> PageRecord {
    let path = CrawlUrl::parse(url).unwrap().path_and_query().to_owned();
    PageRecord::without_content(path, 0)
}

impl World {
    /// The next URL of a host was fetched at `at`.
    pub(super) fn visit(&self, key: &str, at: UnixMillis) -> Effect {
        let snapshot = self.frontier().snapshot(self.host(key)).unwrap().unwrap();
        let item = snapshot.next.or(snapshot.next_page).unwrap();
        let record = record(item.url.as_str());
        self.apply(done_at(at, &item, page(), Some(record), &[], BOUNDS))
    }

    fn release(&self, number: u64, key: &str) -> Effect {
        let host = self.frontier().host_number(key).unwrap();
        self.apply(Change::Order { number, host, task: HostTask::Release })
    }

    fn handed_back(&self) -> Vec<String> {
        let entries = self.results().into_iter();
        let back = entries.filter_map(|(_, entry)| match entry {
            Entry::Discovered(reported) if reported.handed_back => Some(reported.url),
            _ => None,
        });
        back.collect()
    }

    /// Packs everything and ships it.
    fn ship(&self) {
        let entries = self.results();
        let seq = self.frontier().next_package().unwrap();
        if let Some((through, _)) = entries.last() {
            self.apply(Change::Sealed { seq, through: *through, bytes: 1 });
            self.apply(Change::Shipped { seq });
        }
    }
}

#[test]
fn a_released_host_loses_no_url_and_counts_as_never_seen_when_it_is_back() {
    let mut world = World::new();
    world.route(1, "http://a.org/fetched");
    world.route(2, "http://a.org/queued");
    world.visit("http://a.org", NOW);
    assert_eq!(world.release(7, "http://a.org").progress, Progress::Complete);
    assert_eq!(world.handed_back(), ["http://a.org/queued", "http://a.org/fetched"]);
    world.restart();
    assert_eq!(world.frontier().host_number("http://a.org").unwrap(), None);
    assert_eq!(world.frontier().counts().unwrap().hosts, 0);
    world.route(3, "http://a.org/fetched");
    assert!(world.next("http://a.org").is_some(), "owned as if for the first time");
    world.visit("http://a.org", NOW);
    assert_eq!(world.route(4, "http://a.org/fetched").ready, [], "and fetched once more");
}

#[test]
fn an_order_is_done_when_everything_before_it_is_shipped() {
    let world = World::new();
    world.route(1, "http://a.org/");
    world.visit("http://a.org", NOW);
    world.release(7, "http://a.org");
    assert_eq!(world.frontier().orders_done().unwrap(), [] as [u64; 0], "not even packed");
    let through = world.results().last().unwrap().0;
    world.apply(Change::Sealed { seq: 1, through, bytes: 1 });
    assert_eq!(world.frontier().orders_done().unwrap(), [] as [u64; 0], "packed, not shipped");
    // What comes after the order is not waited for.
    world.route(2, "http://b.org/");
    world.visit("http://b.org", NOW);
    world.apply(Change::Shipped { seq: 1 });
    assert_eq!(world.frontier().orders_done().unwrap(), [7]);
    world.apply(Change::ForgetOrders { numbers: vec![7] });
    assert_eq!(world.frontier().orders_done().unwrap(), [] as [u64; 0]);
    world.ship();
    world.release(8, "http://unknown.org");
    assert_eq!(world.frontier().orders_done().unwrap(), [8], "nothing to do, nothing to ship");
}

#[test]
fn a_repeated_order_takes_nothing_from_a_host_that_is_back() {
    let world = World::new();
    world.route(1, "http://a.org/");
    world.release(7, "http://a.org");
    world.route(2, "http://a.org/");
    world.release(7, "http://a.org");
    assert!(world.next("http://a.org").is_some());
}

#[test]
fn a_large_host_is_released_in_parts() {
    let mut world = World::new();
    let urls: Vec<String> = (0..1_200).map(|n| format!("http://a.org/{n}")).collect();
    let many: Vec<(u64, &str)> = (1..).zip(urls.iter().map(String::as_str)).collect();
    world.apply(routes(&many, Bounds { pages_a_host: 10_000, depth: 1 }));
    (0..300).for_each(|_| drop(world.visit("http://a.org", NOW)));
    assert_eq!(world.release(7, "http://a.org").progress, Progress::Partial);
    world.restart();
    assert_eq!(world.release(7, "http://a.org").progress, Progress::Partial);
    assert_eq!(world.release(7, "http://a.org").progress, Progress::Complete);
    let back: std::collections::BTreeSet<String> = world.handed_back().into_iter().collect();
    assert_eq!(back, urls.into_iter().collect());
}

#[test]
fn the_page_with_the_earliest_revisit_base_comes_first() {
    let mut world = World::new();
    world.route(1, "http://a.org/1");
    world.route(2, "http://a.org/2");
    assert!(world.visit("http://a.org", NOW).has_queued);
    let effect = world.visit("http://a.org", NOW.plus_ms(5));
    assert_eq!((effect.has_queued, effect.revisit_base), (false, Some(NOW)));
    assert_eq!(world.visit("http://a.org", NOW.plus_ms(9)).revisit_base, Some(NOW.plus_ms(5)));
    world.restart();
    let snapshot = world.frontier().snapshot(world.host("http://a.org")).unwrap().unwrap();
    assert_eq!(snapshot.next_page.unwrap().url.as_str(), "http://a.org/2");
    let until = NOW.plus_ms(1_005);
    let query = DueQuery { until, most: 9, revisit_period_ms: Some(1_000) };
    let found = world.frontier().due_hosts(query, |_| false).unwrap();
    assert_eq!(found.hosts.iter().map(|host| host.work).collect::<Vec<_>>(), [until]);
    let query = DueQuery { until: NOW.plus_ms(1_004), ..query };
    let found = world.frontier().due_hosts(query, |_| false).unwrap();
    assert_eq!(found, DueHosts { hosts: Vec::new(), next: Some(until) });
    assert_eq!(with_work(world.frontier()).unwrap(), []);
}

#[test]
fn a_settled_host_forgets_how_fast_its_pages_were() {
    let world = World::new();
    world.route(1, "http://a.org/");
    let item = world.next("http://a.org").unwrap();
    let mut known = record("http://a.org/");
    let timing = delegation::calibration::Timing { ms: 20.0, bytes: 100 };
    for _ in 0..9 {
        known.past.head.observe(Slowdown::default(), timing);
    }
    world.apply(done_at(NOW, &item, page(), Some(known), &[], BOUNDS));
    let head = || {
        let snapshot = world.frontier().snapshot(world.host("http://a.org")).unwrap().unwrap();
        snapshot.next_page.unwrap().known.unwrap().record.past.head
    };
    assert!(!head().is_learning());
    let host = Some(world.host("http://a.org"));
    let visited =
        world.frontier().snapshot(world.host("http://a.org")).unwrap().unwrap().next_page.unwrap();
    world.apply(Change::Order { number: 1, host, task: HostTask::Settle });
    assert!(head().is_learning());
    // A visit that began before ends now.
    let record = visited.known.as_ref().unwrap().record.clone();
    world.apply(done_at(NOW, &visited, page(), Some(record), &[], BOUNDS));
    assert!(head().is_learning());
    assert_eq!(world.frontier().orders_executed().unwrap(), [1]);
}
