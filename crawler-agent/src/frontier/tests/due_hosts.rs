//! Hosts with work, by due time, against what is known of each host by itself.

use proptest::prelude::*;

use super::*;

const HOSTS: u8 = 6;
const PERIOD_MS: i64 = 50;

#[derive(Debug, Clone)]
enum Step {
    Route(u8, u8),
    Visit { host: u8, at: i64, advance_s: u32 },
    Due(u8, i64),
    Drop(u8),
    Checkpoint,
    DropFromMemory,
    Restart,
    Search(usize, i64, u8),
}

fn step() -> impl Strategy<Value = Step> {
    let host = || 0..HOSTS;
    prop_oneof![
        3 => (host(), 0u8..4).prop_map(|(host, path)| Step::Route(host, path)),
        4 => (host(), 0i64..200, 0u32..3)
            .prop_map(|(host, at, advance_s)| Step::Visit { host, at, advance_s }),
        2 => (host(), 0i64..200).prop_map(|(host, due)| Step::Due(host, due)),
        1 => host().prop_map(Step::Drop),
        2 => Just(Step::Checkpoint),
        1 => Just(Step::DropFromMemory),
        1 => Just(Step::Restart),
        4 => (0usize..5, 0i64..300, host())
            .prop_map(|(most, until, skipped)| Step::Search(most, until, skipped)),
    ]
}

fn key(host: u8) -> String {
    format!("http://h{host}.org")
}

struct Searched {
    world: World,
    seq: u64,
}

impl Searched {
    fn number(&self, host: u8) -> Option<HostNumber> {
        self.world.frontier().host_number(&key(host)).unwrap()
    }

    fn snapshot(&self, host: u8) -> Option<HostSnapshot> {
        self.world.frontier().snapshot(self.number(host)?).unwrap()
    }

    fn step(&mut self, step: &Step) {
        match *step {
            Step::Route(host, path) => {
                self.seq += 1;
                self.world.route(self.seq, &format!("{}/{path}", key(host)));
            }
            Step::Visit { host, at, advance_s } => self.visit(host, NOW.plus_ms(at), advance_s),
            Step::Due(host, due) => {
                if let Some(host) = self.number(host) {
                    self.world.apply(Change::Asked { host, due: NOW.plus_ms(due) });
                }
            }
            Step::Drop(host) => {
                if let Some(host) = self.number(host) {
                    self.world.apply(Change::Drop { host });
                }
            }
            Step::Checkpoint => self.world.frontier().checkpoint().unwrap(),
            Step::DropFromMemory => self.world.drop_from_memory(),
            Step::Restart => self.world.restart(),
            Step::Search(most, until, skipped) => self.search(most, NOW.plus_ms(until), skipped),
        }
    }

    fn visit(&self, host: u8, at: UnixMillis, advance_s: u32) {
        let Some(snapshot) = self.snapshot(host) else { return };
        let Some(item) = snapshot.next.or(snapshot.next_page) else { return };
        let path = item.url.path_and_query().to_owned();
        let changes = ChangeRate { advance_s, ..ChangeRate::default() };
        let page = PageRecord { changes, ..PageRecord::without_content(path, 0) };
        self.world.apply(done_at(at, &item, other(), Some(page), &[], BOUNDS));
    }

    /// The hosts by what is known of each.
    fn expected(&self, skipped: Option<HostNumber>) -> Vec<HostWithWork> {
        let mut all = Vec::new();
        for host in 0..HOSTS {
            let Some(snapshot) = self.snapshot(host) else { continue };
            let number = self.number(host).unwrap();
            let due = snapshot.record.due;
            let revisit = |page: QueueItem| page.known.unwrap().revisit_base.plus_ms(PERIOD_MS);
            let work = snapshot.next.map(|_| due).or_else(|| snapshot.next_page.map(revisit));
            let Some(work) = work.filter(|_| skipped != Some(number)) else { continue };
            all.push(HostWithWork { host: number, due, work, crawl_delay_ms: 0 });
        }
        all.sort_unstable_by_key(|host| (host.due.max(host.work), host.host));
        all
    }

    fn search(&self, most: usize, until: UnixMillis, skipped: u8) {
        let skipped = self.number(skipped);
        let query = DueQuery { until, most, revisit_period_ms: Some(PERIOD_MS) };
        let found = self.world.frontier().due_hosts(query, |host| Some(host) == skipped).unwrap();
        let expected = self.expected(skipped);
        let is_due = |host: &&HostWithWork| host.due.max(host.work) <= until;
        let due: Vec<HostWithWork> = expected.iter().filter(is_due).take(most).copied().collect();
        assert_eq!(found.hosts, due);
        let next = expected.get(due.len()).map(|host| host.due.max(host.work));
        match (found.next, next) {
            (Some(found), Some(next)) => assert!(found <= next, "{found:?} after {next:?}"),
            (found, next) => assert_eq!(found, next),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn hosts_are_found_by_due_time(steps in prop::collection::vec(step(), 0..60)) {
        let mut searched = Searched { world: World::new(), seq: 0 };
        for step in &steps {
            searched.step(step);
        }
        searched.search(9, NOW.plus_ms(9_999), HOSTS);
    }
}

/// As after a clock that was days ahead.
#[test]
fn times_that_are_too_far_ahead_are_due_now() {
    const DAYS_MS: i64 = 9 * 24 * 3_600_000;
    let mut world = World::new();
    for (seq, url) in [(1, "http://a.org/"), (2, "http://b.org/"), (3, "http://c.org/")] {
        world.route(seq, url);
    }
    let [queued, visited] = ["http://a.org", "http://b.org"].map(|key| world.host(key));
    world.apply(Change::Asked { host: queued, due: NOW.plus_ms(DAYS_MS) });
    world.visit("http://b.org", NOW.plus_ms(DAYS_MS));
    world.visit("http://c.org", NOW.plus_ms(-1));
    // A visit of these tests rests its host until then.
    let until = NOW.plus_ms(1_000);
    let query = DueQuery { until, most: 9, revisit_period_ms: Some(DAYS_MS) };
    for _ in 0..2 {
        let found = world.frontier().due_hosts(query, |_| false).unwrap();
        let hosts: Vec<HostNumber> = found.hosts.iter().map(|host| host.host).collect();
        assert_eq!(hosts, [queued, visited]);
        assert_eq!(found.next, Some(NOW.plus_ms(DAYS_MS - 1)));
        world.restart();
        world.drop_from_memory();
    }
    world.apply(Change::Asked { host: queued, due: NOW.plus_ms(5) });
    let due = world.frontier().snapshot(queued).unwrap().unwrap().record.due;
    assert_eq!(due, NOW.plus_ms(5), "a pause does not add to a wrong time");
}

#[test]
fn a_request_for_another_host_does_not_end_a_longer_pause() {
    let world = World::new();
    world.route(1, "http://a.org/");
    let host = world.host("http://a.org");
    let due = || world.frontier().snapshot(host).unwrap().unwrap().record.due;
    world.apply(Change::Asked { host, due: NOW.plus_ms(100) });
    world.apply(Change::Asked { host, due: NOW.plus_ms(5) });
    assert_eq!(due(), NOW.plus_ms(100));
    world.apply(Change::Asked { host, due: NOW.plus_ms(101) });
    assert_eq!(due(), NOW.plus_ms(101));
}
