//! The workbench with more hosts than it holds, which come from a file that is simulated here.

use std::{
    collections::{BTreeSet, HashMap},
    net::{IpAddr, Ipv4Addr},
    time::Duration,
};

use super::*;

const SLOTS: usize = 64;
const REQUEST_MS: u64 = 100;
const DELAY_MS: u64 = 1_000;
const HORIZON_MS: u64 = 10_000;
const BATCH: usize = 256;

/// A host of the simulated crawl.
#[derive(Debug, Clone, Copy)]
struct Simulated {
    due: u64,
    pages: u32,
    /// When it may be visited, as an observer knows.
    rests_until: u64,
}

/// A crawl of hosts that are all due at first.
struct Crawl {
    workbench: Workbench,
    now: u64,
    hosts: HashMap<HostNumber, Simulated>,
    /// What the file has: hosts that have work, by due time.
    file: BTreeSet<(u64, HostNumber)>,
    /// Running requests by the time of their end.
    running: BTreeSet<(u64, HostNumber)>,
    came_in: usize,
    most_inside: usize,
}

impl Crawl {
    fn new(hosts: u64, pages: u32) -> Self {
        let hosts = (0..hosts).map(HostNumber);
        let file = hosts.clone().map(|host| (0, host)).collect();
        let simulated = Simulated { due: 0, pages, rests_until: 0 };
        let mut workbench = Workbench::new(SLOTS);
        workbench.start_search(0);
        workbench.end_search(Some(0), HORIZON_MS);
        let hosts = hosts.map(|host| (host, simulated)).collect();
        let running = BTreeSet::new();
        Self { workbench, now: 0, hosts, file, running, came_in: 0, most_inside: 0 }
    }

    fn search(&mut self) {
        let then = self.now + HORIZON_MS;
        if !self.workbench.wants_hosts(self.now, then) {
            return;
        }
        self.workbench.start_search(self.now);
        let workbench = &self.workbench;
        let outside = self.file.iter().filter(|(_, host)| !workbench.is_passed_over(*host, then));
        let found: Vec<(u64, HostNumber)> = outside.take(BATCH + 1).copied().collect();
        let is_due = |(due, _): &&(u64, HostNumber)| *due <= then;
        let due: Vec<_> = found.iter().take(BATCH).take_while(is_due).copied().collect();
        for (due, host) in &due {
            self.workbench.bring_in(*host, *due, *due);
            self.came_in += 1;
        }
        self.workbench.end_search(found.get(due.len()).map(|(due, _)| *due), then);
        self.most_inside = self.most_inside.max(self.workbench.hosts.len());
    }

    fn step(&mut self) {
        self.search();
        while let Some(host) = self.workbench.take_unresolved(self.now + HORIZON_MS) {
            self.workbench.resolved(host);
        }
        while self.running.len() < SLOTS
            && let Some(host) = self.workbench.take(self.now)
        {
            let simulated = self.hosts[&host];
            assert!(simulated.rests_until <= self.now, "{host:?} is visited too early");
            self.running.insert((self.now + REQUEST_MS, host));
        }
        while let Some((end, host)) = self.running.first().copied().filter(|(t, _)| *t <= self.now)
        {
            self.running.remove(&(end, host));
            self.finish(host);
        }
    }

    fn finish(&mut self, host: HostNumber) {
        let simulated = self.hosts.get_mut(&host).unwrap();
        self.file.remove(&(simulated.due, host));
        simulated.pages -= 1;
        simulated.due = self.now + DELAY_MS;
        simulated.rests_until = simulated.due;
        let due = simulated.due;
        let more = simulated.pages > 0;
        if more {
            self.file.insert((due, host));
        }
        self.workbench.page_took(host, Duration::from_millis(REQUEST_MS));
        self.workbench.finish(host, due, more.then_some(due));
    }

    fn pages_left(&self) -> u64 {
        self.hosts.values().map(|host| u64::from(host.pages)).sum()
    }
}

#[test]
fn every_host_has_its_turns_and_is_seldom_brought_in() {
    let hosts = 2_000;
    let pages = 100;
    let mut crawl = Crawl::new(hosts, pages);
    let ideal_ms = hosts * u64::from(pages) * REQUEST_MS / SLOTS as u64;
    while crawl.pages_left() > 0 {
        crawl.step();
        crawl.now += 10;
        assert!(crawl.now < ideal_ms * 3, "{} pages are left", crawl.pages_left());
        if crawl.now == ideal_ms / 2 {
            let few = crawl.hosts.values().filter(|host| host.pages > pages - 64).count();
            assert!(few > 0, "hosts that came in stay for their turn");
        }
    }
    // 64 pages in the first turn, the others in the second one.
    let came_in = crawl.came_in as u64;
    assert!((hosts..=hosts * 5 / 2).contains(&came_in), "{came_in}");
    assert!(crawl.most_inside < 1_500, "{} hosts inside", crawl.most_inside);
    assert!(crawl.workbench.hosts.is_empty());
}

#[test]
fn hosts_that_get_work_stay_outside_while_others_are_before_them() {
    let mut workbench = Workbench::default();
    workbench.start_search(0);
    workbench.end_search(Some(50), 10);
    workbench.offer(HostNumber(1), 49);
    workbench.offer(HostNumber(2), 60);
    assert!(!workbench.is_idle(HostNumber(1)), "nobody is before it");
    assert!(workbench.is_idle(HostNumber(2)));
    assert_eq!((workbench.first_outside(), workbench.has_work_until(50)), (Some(50), true));
    workbench.start_search(0);
    assert!(workbench.is_passed_over(HostNumber(1), 10));
    assert!(workbench.is_passed_over(HostNumber(2), 10), "it may not be visited before 60");
    workbench.end_search(None, 10);
    assert_eq!(workbench.first_outside(), Some(60));
    workbench.bring_in(HostNumber(2), 0, 0);
    assert_eq!(workbench.next_unresolved(), Some(49));
    assert_eq!(workbench.take_unresolved(49), Some(HostNumber(1)));
    assert_eq!(workbench.next_unresolved(), Some(60), "though the file says 0");
}

#[test]
fn a_host_that_was_asked_for_another_is_looked_for_and_keeps_its_delay() {
    let mut workbench = Workbench::default();
    let host = HostNumber(1);
    assert_eq!(workbench.borrow(host, 0, 9), Ok(()));
    workbench.start_search(0);
    assert!(workbench.is_passed_over(host, 0));
    // The search has not seen it, so the next one must.
    workbench.give_back(host, 40);
    workbench.end_search(None, 0);
    assert!(workbench.is_idle(host));
    assert_eq!(workbench.first_outside(), Some(40));
    assert_eq!(workbench.borrow(host, 39, 99), Err(40));
    assert_eq!(workbench.reserve(host, 39), None);
    assert_eq!(workbench.reserve(host, 40), Some(40));
}

#[test]
fn hosts_that_may_not_be_asked_make_room_for_others() {
    let mut workbench = Workbench::default();
    workbench.start_search(0);
    workbench.end_search(Some(0), 0);
    let hosts = (0..4_200).map(HostNumber);
    for host in hosts.clone() {
        workbench.bring_in(host, 0, 0);
    }
    while let Some(host) = workbench.take_unresolved(0) {
        workbench.resolved(host);
        let taken = workbench.take(0).unwrap();
        workbench.postpone(taken, 5_000);
    }
    assert_eq!(workbench.hosts.len(), 4_095);
    let away: Vec<HostNumber> = hosts.filter(|host| workbench.is_idle(*host)).collect();
    assert_eq!(away.len(), 105);
    assert!(away.iter().all(|host| workbench.is_passed_over(*host, 59_999)));
    assert!(away.iter().all(|host| !workbench.is_passed_over(*host, 60_000)));
}

#[test]
fn an_address_with_many_hosts_keeps_no_other_from_coming_in() {
    let mut workbench = Workbench::default();
    let address = IpAddr::V4(Ipv4Addr::LOCALHOST);
    workbench.start_search(0);
    workbench.end_search(Some(0), 0);
    let mut away = Vec::new();
    for number in 0..1_000 {
        let host = HostNumber(number);
        workbench.bring_in(host, 0, 0);
        workbench.take_unresolved(0);
        workbench.resolved(host);
        assert_eq!(workbench.take(0), Some(host));
        let is_held = workbench.hold(host, address, 0, 0);
        assert_eq!(is_held, number == 0);
        if workbench.is_idle(host) {
            away.push(host);
        }
    }
    assert!(workbench.hosts.len() < 100, "{} hosts wait inside", workbench.hosts.len());
    workbench.start_search(0);
    let is_early = |host: &&HostNumber| !workbench.is_passed_over(**host, 100_000);
    let early = away.iter().filter(is_early).count();
    assert!((20..=100).contains(&early), "{early} come back within 100 s");
    assert!(away.iter().all(|host| workbench.is_passed_over(*host, 60_000)));
}

#[test]
fn an_address_may_have_more_hosts_than_are_remembered() {
    let mut workbench = Workbench::default();
    let address = IpAddr::V4(Ipv4Addr::LOCALHOST);
    workbench.start_search(0);
    workbench.end_search(Some(0), 0);
    let mut latest = 0;
    for number in 0..70_000 {
        let host = HostNumber(number);
        workbench.bring_in(host, 0, 0);
        workbench.take_unresolved(0);
        workbench.resolved(host);
        assert_eq!(workbench.take(0), Some(host));
        workbench.hold(host, address, 0, 0);
        if let Some(until) = workbench.away_until(host) {
            assert!(until >= latest && until <= 12 * 3_600_000, "{until} after {latest}");
            latest = until;
            workbench.rest_is_stored(host);
            assert_eq!(workbench.away_until(host), None);
        }
    }
    assert!(latest > 3_600_000);
    assert!(workbench.hosts.len() < 100, "{} hosts wait inside", workbench.hosts.len());
    assert!(workbench.wants_hosts(0, 0), "others may come in");
}

#[test]
fn a_time_that_is_stored_during_a_search_is_not_forgotten() {
    let mut workbench = Workbench::default();
    let host = HostNumber(1);
    workbench.start_search(0);
    workbench.end_search(Some(0), 0);
    assert_eq!(workbench.borrow(host, 0, 0), Ok(()));
    workbench.give_back(host, 5_000);
    workbench.start_search(0);
    assert!(workbench.is_passed_over(host, 0));
    workbench.rest_is_stored(host);
    workbench.end_search(None, 0);
    assert_eq!(workbench.first_outside(), Some(5_000));
}

#[test]
fn hosts_leave_again_once_those_that_rested_may_be_visited() {
    let mut workbench = Workbench::default();
    workbench.start_search(0);
    workbench.end_search(Some(0), 0);
    let others = (10_000..80_000).map(HostNumber);
    for host in others.clone() {
        assert_eq!(workbench.borrow(host, 0, 0), Ok(()));
        workbench.give_back(host, 1_000);
    }
    assert!(others.clone().all(|host| workbench.is_idle(host)));
    for host in (0..4_200).map(HostNumber) {
        workbench.bring_in(host, 0, 0);
    }
    let postpone_all = |workbench: &mut Workbench, now| {
        while let Some(host) = workbench.take_unresolved(now) {
            workbench.resolved(host);
        }
        while let Some(host) = workbench.take(now) {
            workbench.postpone(host, now + 500);
        }
        workbench.hosts.len()
    };
    assert_eq!(postpone_all(&mut workbench, 0), 4_200, "too many others rest");
    assert_eq!(postpone_all(&mut workbench, 1_000), 4_095);
    workbench.offer(HostNumber(5_000), 3_000);
    assert!(workbench.is_idle(HostNumber(5_000)), "it stays outside");
}
