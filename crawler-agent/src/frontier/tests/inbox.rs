//! Links to hosts that are not in memory.

use super::*;

const A: &str = "http://a.org";
const B: &str = "http://b.org";

/// Two hosts with one URL each, of which only the first is in memory.
fn world() -> World {
    let world = World::new();
    world.route(1, "http://a.org/");
    world.route(2, "http://b.org/");
    world.frontier().checkpoint().unwrap();
    world.drop_from_memory();
    world
}

impl World {
    /// Ends the fetch of the first URL of a host, whose page has these links.
    fn link(&self, from: &str, links: &[&str]) -> Effect {
        self.finish(&self.next(from).unwrap(), other(), links)
    }

    fn queue(&self, key: &str) -> Vec<String> {
        self.frontier().paths(self.host(key)).unwrap().0
    }

    fn is_in_memory(&self, key: &str) -> bool {
        self.frontier().is_in_memory(self.host(key)).unwrap()
    }

    fn search(&self, until: UnixMillis) -> DueHosts {
        let query = DueQuery { until, most: 9, revisit_period_ms: None };
        self.frontier().due_hosts(query, |_| false).unwrap()
    }
}

#[test]
fn a_link_does_not_read_its_host_and_keeps_its_place() {
    let world = world();
    let effect = world.link(A, &["http://b.org/2", "http://a.org/2", "http://b.org/1"]);
    assert!(effect.undecided);
    assert_eq!(effect.ready, [(world.host(A), NOW.plus_ms(1_000))]);
    assert!(!world.is_in_memory(B));
    assert_eq!(world.frontier().counts().unwrap().queued, 2, "those of B are not decided");
    assert_eq!(world.queue(B), ["/", "/2", "/1"]);
    assert_eq!(world.frontier().counts().unwrap().queued, 4);
}

#[test]
fn links_are_decided_once_wherever_they_are() {
    let mut world = world();
    world.link(A, &["http://a.org/2", "http://b.org/", "http://b.org/1"]);
    world.restart();
    assert!(!world.is_in_memory(B), "the log is replayed without it");
    world.link(A, &["http://a.org/3", "http://b.org/1", "http://b.org/2"]);
    // The first links are on disk now, the next ones in memory.
    world.frontier().checkpoint().unwrap();
    world.drop_from_memory();
    world.link(A, &["http://b.org/2", "http://b.org/3"]);
    assert_eq!(world.queue(B), ["/", "/1", "/2", "/3"]);
    world.frontier().checkpoint().unwrap();
    world.drop_from_memory();
    assert_eq!(world.queue(B), ["/", "/1", "/2", "/3"]);
    assert_eq!(world.frontier().counts().unwrap().queued, 4);
    assert_eq!(world.frontier().disk.inbox_len().unwrap(), 0, "decided links are deleted");
    world.restart();
    assert_eq!(world.queue(B), ["/", "/1", "/2", "/3"]);
}

#[test]
fn the_bound_of_pages_is_that_of_the_link() {
    let world = world();
    let item = world.next(A).unwrap();
    let bounds = Bounds { pages_a_host: 2, depth: 25 };
    let links = ["http://b.org/1", "http://b.org/", "http://b.org/2"];
    world.apply(done(&item, other(), &links, bounds));
    assert_eq!(world.queue(B), ["/", "/1"]);
}

#[test]
fn a_host_without_work_gets_it_from_links_that_waited_for_long() {
    let world = world();
    world.link(B, &[]);
    world.frontier().checkpoint().unwrap();
    world.drop_from_memory();
    world.link(A, &["http://b.org/", "http://b.org/1"]);
    let decided = NOW.plus(INBOX_PATIENCE);
    assert_eq!(world.search(NOW), DueHosts { hosts: Vec::new(), next: Some(decided) });
    let late = world.search(decided.plus_ms(500)).next.unwrap();
    assert!(late > decided.plus_ms(500), "the links are not on disk yet");
    world.frontier().checkpoint().unwrap();
    world.drop_from_memory();
    assert_eq!(world.search(decided.plus_ms(-1)).next, Some(decided));
    // The schedule may have the host for a revisit, so that other searches pass it over.
    let query = DueQuery { until: decided, most: 9, revisit_period_ms: None };
    let search = || world.frontier().due_hosts(query, |_| true).unwrap();
    let found = search();
    assert_eq!(found.hosts.iter().map(|host| host.host).collect::<Vec<_>>(), [world.host(B)]);
    assert_eq!(found.next, None);
    assert_eq!(search().hosts, []);
    assert_eq!(world.search(decided).hosts, found.hosts);
}

#[test]
fn a_host_that_is_read_for_another_reason_is_found_as_well() {
    let world = world();
    world.link(B, &[]);
    world.frontier().checkpoint().unwrap();
    world.drop_from_memory();
    world.link(A, &["http://b.org/1"]);
    assert_eq!(world.queue(B), ["/1"]);
    let query = DueQuery { until: NOW, most: 9, revisit_period_ms: None };
    let found = world.frontier().due_hosts(query, |_| true).unwrap();
    assert_eq!(found.hosts.iter().map(|host| host.host).collect::<Vec<_>>(), [world.host(B)]);
}

#[test]
fn a_host_that_leaves_takes_its_links_along() {
    let world = world();
    let accepted = |bundle: &HostBundle| bundle.record.accepted;
    let before = world.frontier().bundle(world.host(B)).unwrap().unwrap();
    world.frontier().checkpoint().unwrap();
    world.drop_from_memory();
    world.link(A, &["http://b.org/1"]);
    let hand_over = |bundle: &HostBundle| {
        let host = world.host(B);
        world.apply(Change::HandOver { number: 1, host, accepted: accepted(bundle) })
    };
    assert_eq!(hand_over(&before).progress, Progress::Outdated, "the bundle lacks the link");
    let bundle = world.frontier().bundle(world.host(B)).unwrap().unwrap();
    assert_eq!(bundle.queue.len(), 2);
    assert_eq!(hand_over(&bundle).progress, Progress::Complete);
    world.frontier().checkpoint().unwrap();
    assert_eq!(world.frontier().host_number(B).unwrap(), None);
    assert_eq!(world.frontier().disk.inbox_len().unwrap(), 0);
    assert_eq!(world.frontier().counts().unwrap().queued, 0);
}

#[test]
fn a_rebuilt_file_has_the_links_in_its_queues() {
    let mut world = world();
    world.link(A, &["http://b.org/", "http://b.org/1", "http://b.org/2"]);
    world.frontier().checkpoint().unwrap();
    assert!(world.frontier().disk.inbox_len().unwrap() > 0);
    world.frontier = None;
    let (frontier, rebuilt) = Frontier::rebuild(&world.path(), 9).unwrap();
    world.frontier = Some(frontier);
    assert_eq!(rebuilt.queued, Salvaged { kept: 3, lost: Some(0) });
    assert_eq!(world.queue(B), ["/", "/1", "/2"]);
}

#[test]
fn urls_that_have_ended_take_no_place_in_a_rebuilt_file() {
    let mut world = world();
    let bounds = Bounds { pages_a_host: 2, depth: 25 };
    world.finish(&world.next(B).unwrap(), other(), &["http://b.org/1"]);
    world.finish(&world.next(B).unwrap(), other(), &[]);
    world.frontier().checkpoint().unwrap();
    world.drop_from_memory();
    let item = world.next(A).unwrap();
    world.apply(done(&item, other(), &["http://b.org/2", "http://b.org/3"], bounds));
    world.frontier().checkpoint().unwrap();
    world.frontier = None;
    let (frontier, _) = Frontier::rebuild(&world.path(), 9).unwrap();
    world.frontier = Some(frontier);
    assert_eq!(world.queue(B), ["/2", "/3"]);
    let bundle = world.frontier().bundle(world.host(B)).unwrap().unwrap();
    assert_eq!(bundle.record.accepted, 2);
}
