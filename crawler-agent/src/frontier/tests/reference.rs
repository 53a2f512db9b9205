//! The frontier against a naive model of it, with restarts.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;

const SMALL: Bounds = Bounds { pages_a_host: 5, depth: 2 };

#[derive(Debug, Clone)]
enum Step {
    Route(u8, u8),
    Fetch(u8, Vec<(u8, u8)>),
    Redirect(u8, (u8, u8)),
    Fail(u8),
    GiveUp(u8),
    Seal,
    Ship,
    Checkpoint,
    DropFromMemory,
    Restart,
    Compare,
}

fn step() -> impl Strategy<Value = Step> {
    let page = || (0u8..4, 0u8..8);
    prop_oneof![
        4 => page().prop_map(|(host, path)| Step::Route(host, path)),
        6 => (0u8..4, prop::collection::vec(page(), 0..6))
            .prop_map(|(host, links)| Step::Fetch(host, links)),
        2 => (0u8..4, page()).prop_map(|(host, target)| Step::Redirect(host, target)),
        1 => (0u8..4).prop_map(Step::Fail),
        1 => (0u8..4).prop_map(Step::GiveUp),
        1 => Just(Step::Seal),
        1 => Just(Step::Ship),
        2 => Just(Step::Checkpoint),
        1 => Just(Step::DropFromMemory),
        1 => Just(Step::Restart),
        3 => Just(Step::Compare),
    ]
}

fn key(host: u8) -> String {
    format!("http://h{host}.org")
}

fn url(host: u8, path: u8) -> String {
    format!("{}/{path}", key(host))
}

/// One waiting URL of the model, in the order in which it must be fetched.
type Waiting = (u16, u64, String, u8, u8);

#[derive(Default)]
struct Model {
    seq: u64,
    order: u64,
    queues: BTreeMap<u8, BTreeSet<Waiting>>,
    accepted: BTreeMap<u8, u32>,
    ended: BTreeMap<u8, u32>,
    queued_ever: BTreeSet<String>,
    reported: BTreeSet<String>,
    results: Vec<String>,
    packages: BTreeSet<u64>,
    next_package: u64,
}

impl Model {
    fn arrive(&mut self, (host, path): (u8, u8), depth: u16, redirects: u8) {
        let url = url(host, path);
        if redirects > 5 {
            return;
        }
        if !self.queues.contains_key(&host) {
            if self.reported.insert(url.clone()) {
                self.results.push(format!("reported {url}"));
            }
        } else if depth <= SMALL.depth {
            self.enqueue(host, url, depth, redirects);
        }
    }

    fn enqueue(&mut self, host: u8, url: String, depth: u16, redirects: u8) -> bool {
        if self.queued_ever.contains(&url) {
            return true;
        }
        let accepted = self.accepted.entry(host).or_default();
        let ended = self.ended.get(&host).copied().unwrap_or_default();
        if *accepted >= SMALL.pages_a_host || ended >= 5 * SMALL.pages_a_host {
            return false;
        }
        *accepted += 1;
        self.order += 1;
        self.queued_ever.insert(url.clone());
        self.queues.entry(host).or_default().insert((depth, self.order, url, redirects, 0));
        true
    }

    /// The visited URL is no page.
    fn end(&mut self, host: u8) {
        *self.accepted.entry(host).or_default() -= 1;
        *self.ended.entry(host).or_default() += 1;
    }

    fn first(&self, host: u8) -> Option<Waiting> {
        self.queues.get(&host)?.first().cloned()
    }

    fn pop(&mut self, host: u8) -> Option<Waiting> {
        self.queues.get_mut(&host)?.pop_first()
    }
}

struct Pair {
    model: Model,
    world: World,
}

impl Pair {
    fn step(&mut self, step: &Step) {
        match step {
            Step::Route(host, path) => self.route(*host, *path),
            Step::Fetch(host, links) => self.fetch(*host, links),
            Step::Redirect(host, target) => self.redirect(*host, *target),
            Step::Fail(host) => self.fail(*host),
            Step::GiveUp(host) => self.give_up(*host),
            Step::Seal => self.seal(),
            Step::Ship => {
                if let Some(seq) = self.model.packages.pop_first() {
                    self.world.apply(Change::Shipped { seq });
                }
            }
            Step::Checkpoint => self.world.frontier().checkpoint().unwrap(),
            Step::DropFromMemory => self.world.drop_from_memory(),
            Step::Restart => self.restart(),
            // Not after each step: it reads all hosts, which decides the links to them.
            Step::Compare => self.compare(),
        }
    }

    /// The filter of reported URLs is in memory only.
    fn restart(&mut self) {
        self.world.restart();
        self.model.reported.clear();
    }

    fn route(&mut self, host: u8, path: u8) {
        self.model.seq += 1;
        let url = url(host, path);
        self.world.apply(routes(&[(self.model.seq, &url)], SMALL));
        self.model.queues.entry(host).or_default();
        if !self.model.enqueue(host, url.clone(), 0, 0) {
            self.model.results.push(format!("fetched {url}"));
        }
    }

    fn fetch(&mut self, host: u8, links: &[(u8, u8)]) {
        let Some((depth, _, url_, ..)) = self.model.pop(host) else { return };
        let item = self.world.next(&key(host)).unwrap();
        let texts: Vec<String> = links.iter().map(|(h, p)| url(*h, *p)).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        self.world.apply(done(&item, other(), &texts, SMALL));
        self.model.results.push(format!("fetched {url_}"));
        self.model.end(host);
        for link in links {
            self.model.arrive(*link, depth + 1, 0);
        }
    }

    fn redirect(&mut self, host: u8, target: (u8, u8)) {
        let Some((depth, _, url_, redirects, _)) = self.model.pop(host) else { return };
        let item = self.world.next(&key(host)).unwrap();
        self.world.apply(done(&item, redirect(&url(target.0, target.1)), &[], SMALL));
        self.model.results.push(format!("fetched {url_}"));
        self.model.end(host);
        self.model.arrive(target, depth, redirects + 1);
    }

    fn fail(&mut self, host: u8) {
        let Some((depth, order, url, redirects, attempts)) = self.model.pop(host) else { return };
        let item = self.world.next(&key(host)).unwrap();
        let retry = Change::Retry { host: item.host, key: item.queue_key(), due: NOW, failures: 1 };
        self.world.apply(retry);
        let queue = self.model.queues.entry(host).or_default();
        queue.insert((depth, order, url, redirects, attempts + 1));
    }

    fn give_up(&mut self, host: u8) {
        let Ok(Some(number)) = self.world.frontier().host_number(&key(host)) else { return };
        self.world.apply(Change::GiveUp { host: number, failure: gone(), failures: 1, at: NOW });
        while let Some((_, _, url, ..)) = self.model.pop(host) {
            self.model.results.push(format!("fetched {url}"));
        }
    }

    fn seal(&mut self) {
        let batch = self.world.frontier().oldest_results(400).unwrap();
        if batch.is_empty() {
            return;
        }
        let seq = self.world.frontier().next_package().unwrap();
        self.model.next_package += 1;
        assert_eq!(seq, self.model.next_package);
        self.world.apply(Change::Sealed { seq, through: batch.last().unwrap().0, bytes: 1 });
        self.model.results.drain(..batch.len());
        self.model.packages.insert(seq);
    }

    fn compare(&self) {
        for host in self.model.queues.keys() {
            let next = self.world.next(&key(*host));
            let next = next.map(|q| (q.url.to_string(), q.depth, q.redirects, q.attempts));
            let expected = self.model.first(*host).map(|(d, _, url, r, a)| (url, d, r, a));
            assert_eq!(next, expected, "next of host {host}");
        }
        let results = self.world.results().into_iter().map(|(_, entry)| match entry {
            Entry::Fetch(fetch) => format!("fetched {}", fetch.url),
            Entry::Discovered(discovered) => format!("reported {}", discovered.url),
        });
        assert_eq!(results.collect::<Vec<_>>(), self.model.results);
        let packages: Vec<u64> = self.model.packages.iter().copied().collect();
        assert_eq!(self.world.frontier().packages().unwrap(), packages);
        let expected = self.model.queues.values().filter(|queue| !queue.is_empty()).count();
        assert_eq!(with_work(self.world.frontier()).unwrap().len(), expected);
        let counts = self.world.frontier().counts().unwrap();
        assert_eq!(counts.routes_after, self.model.seq);
        assert_eq!(
            counts.queued as usize,
            self.model.queues.values().map(BTreeSet::len).sum::<usize>()
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn the_frontier_does_what_a_naive_one_does(steps in prop::collection::vec(step(), 0..60)) {
        let mut pair = Pair { model: Model::default(), world: World::new() };
        for step in &steps {
            pair.step(step);
        }
        pair.compare();
    }
}
