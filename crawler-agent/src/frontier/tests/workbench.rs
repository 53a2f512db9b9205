//! The workbench, by itself and against rules that are checked from outside.

use std::net::{IpAddr, Ipv4Addr};

use proptest::prelude::*;

use super::*;

const A: HostNumber = HostNumber(1);
const B: HostNumber = HostNumber(2);
const C: HostNumber = HostNumber(3);

fn ip(last: u8) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(192, 0, 2, last))
}

/// Looks the names of all hosts up.
fn look_names_up(workbench: &mut Workbench) {
    while let Some(host) = workbench.take_unresolved(u64::MAX) {
        workbench.resolved(host);
    }
}

/// Offers a host whose name is known.
fn offer(workbench: &mut Workbench, host: HostNumber, due: u64) {
    workbench.offer(host, due);
    look_names_up(workbench);
}

/// A workbench whose three hosts are busy.
fn with_busy_hosts() -> Workbench {
    let mut workbench = Workbench::default();
    for host in [A, B, C] {
        offer(&mut workbench, host, 0);
        assert_eq!(workbench.take(0), Some(host));
    }
    workbench
}

#[test]
fn hosts_are_taken_when_they_are_due_longest_first() {
    let mut workbench = Workbench::default();
    offer(&mut workbench, A, 30);
    offer(&mut workbench, B, 10);
    offer(&mut workbench, B, 5);
    assert_eq!(workbench.next_due(), Some(10), "a second offer changes nothing");
    assert_eq!(workbench.take(9), None);
    assert_eq!(workbench.take(30), Some(B));
    assert_eq!(workbench.take(30), Some(A));
    assert_eq!(workbench.take(99), None, "both are busy");
}

#[test]
fn work_that_comes_in_while_a_host_is_busy_is_not_lost() {
    let mut workbench = Workbench::default();
    offer(&mut workbench, A, 0);
    assert_eq!(workbench.take(0), Some(A));
    offer(&mut workbench, A, 0);
    workbench.release(A, 50, false);
    assert_eq!((workbench.take(49), workbench.take(50)), (None, Some(A)));
    workbench.release(A, 90, false);
    assert!(workbench.hosts.is_empty(), "an idle host takes no memory");
}

#[test]
fn one_request_to_an_address_at_a_time_in_order_of_arrival() {
    let mut workbench = with_busy_hosts();
    assert!(workbench.hold(A, ip(1), 0, 0));
    assert!(!workbench.hold(B, ip(1), 0, 0));
    assert!(!workbench.hold(C, ip(1), 0, 0));
    assert_eq!(workbench.take(99), None, "both queue");
    workbench.free_address(ip(1), 0);
    workbench.release(A, 100, true);
    assert_eq!(workbench.take(50), Some(B));
    assert!(workbench.hold(B, ip(1), 0, 0), "it was kept");
    workbench.free_address(ip(1), 0);
    workbench.release(B, 100, false);
    assert_eq!(workbench.take(50), Some(C));
    assert!(workbench.hold(C, ip(2), 0, 0), "its name leads elsewhere by now");
    assert!(workbench.hold_address(ip(1), 0), "so the address that was kept is free");
    assert_eq!(workbench.in_flight(), 2);
}

#[test]
fn hosts_at_one_address_keep_its_delay() {
    let mut workbench = with_busy_hosts();
    assert!(workbench.hold(A, ip(1), 0, 0));
    assert!(!workbench.hold(B, ip(1), 0, 0));
    workbench.free_address(ip(1), 100);
    assert!(!workbench.hold(C, ip(1), 100, 50), "behind B");
    assert_eq!((workbench.take(99), workbench.take(100)), (None, Some(B)));
    assert!(workbench.hold(B, ip(1), 100, 100));
    workbench.free_address(ip(1), 200);
    workbench.retire(C);
    assert!(workbench.hold_address(ip(1), 0), "nobody is left in the queue");
    workbench.free_address(ip(1), 300);
    assert!(!workbench.hold(B, ip(1), 300, 250), "the address is left alone until then");
    assert!(workbench.hold_address(ip(1), 299), "a probe goes before a host that is not due");
    assert!(!workbench.hold_address(ip(1), 299), "one at a time");
    assert_eq!(workbench.take(350), None);
    workbench.free_address(ip(1), 400);
    assert_eq!((workbench.take(399), workbench.take(400)), (None, Some(B)));
    assert!(workbench.hold(B, ip(1), 400, 400));
}

#[test]
fn no_host_overtakes_the_queue_of_an_address() {
    let mut workbench = with_busy_hosts();
    assert!(workbench.hold(A, ip(1), 0, 0));
    assert!(!workbench.hold(B, ip(1), 0, 0));
    workbench.free_address(ip(1), 0);
    assert!(!workbench.hold(C, ip(1), 0, 0), "kept for B");
    assert!(!workbench.hold_address(ip(1), 0));
    assert_eq!(workbench.take(0), Some(B));
    workbench.release(B, 9, true);
    assert_eq!(workbench.take(0), Some(C), "B went without it, so it is C's turn");
    assert!(workbench.hold(C, ip(1), 0, 0));
}

#[test]
fn a_host_can_be_asked_on_behalf_of_another() {
    let mut workbench = Workbench::default();
    offer(&mut workbench, A, 20);
    assert_eq!(workbench.borrow(A, 10, 99), Err(20), "not before it is due");
    assert_eq!(workbench.borrow(A, 20, 99), Ok(()));
    assert_eq!(workbench.borrow(A, 20, 99), Err(99), "not twice at a time");
    assert_eq!(workbench.take(20), None);
    workbench.release(A, 70, false);
    assert_eq!(workbench.take(70), Some(A), "its own work is not forgotten");
    assert_eq!(workbench.borrow(B, 0, 99), Ok(()), "a host without work");
    workbench.release(B, 5, false);
    assert_eq!(workbench.hosts.len(), 1);
}

#[derive(Debug, Clone)]
enum Step {
    Offer(u64, u64),
    LookUp,
    Resolved(usize),
    LookUpAgain(usize),
    Take,
    Hold(usize, u8),
    Finish(usize, bool, u64),
    Later(u64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (0u64..6, 0u64..40).prop_map(|(host, due)| Step::Offer(host, due)),
        Just(Step::LookUp),
        any::<usize>().prop_map(Step::Resolved),
        any::<usize>().prop_map(Step::LookUpAgain),
        Just(Step::Take),
        Just(Step::Take),
        (any::<usize>(), 0u8..3).prop_map(|(which, address)| Step::Hold(which, address)),
        (any::<usize>(), any::<bool>(), 0u64..40)
            .prop_map(|(which, more, pause)| Step::Finish(which, more, pause)),
        (0u64..20).prop_map(Step::Later),
    ]
}

/// What an observer knows: which hosts have work, which requests run, and when each host may be
/// visited and each address contacted.
#[derive(Default)]
struct Observer {
    now: u64,
    owed: std::collections::BTreeSet<u64>,
    /// Hosts whose names are being looked up.
    resolving: Vec<HostNumber>,
    busy: Vec<(HostNumber, Option<IpAddr>)>,
    not_before: std::collections::HashMap<HostNumber, u64>,
    address_free: std::collections::HashMap<IpAddr, u64>,
}

impl Observer {
    fn step(&mut self, workbench: &mut Workbench, step: &Step) {
        match *step {
            Step::Offer(host, pause) => {
                let free = self.not_before.get(&HostNumber(host)).copied().unwrap_or(0);
                let due = free.max(self.now + pause);
                workbench.offer(HostNumber(host), due);
                self.owed.insert(host);
            }
            Step::LookUp => self.resolving.extend(workbench.take_unresolved(self.now)),
            Step::Resolved(which) if !self.resolving.is_empty() => {
                workbench.resolved(self.resolving.remove(which % self.resolving.len()));
            }
            Step::Resolved(_) => {}
            Step::LookUpAgain(which) => self.look_up_again(workbench, which),
            Step::Take => {
                if let Some(host) = workbench.take(self.now) {
                    assert!(!self.resolving.contains(&host), "the lookup of {host:?} is running");
                    assert!(
                        self.busy.iter().all(|(busy, _)| *busy != host),
                        "two requests to {host:?}"
                    );
                    assert!(
                        self.not_before.get(&host).is_none_or(|due| *due <= self.now),
                        "too early"
                    );
                    self.owed.remove(&host.0);
                    self.busy.push((host, None));
                }
            }
            Step::Hold(which, last) => self.hold(workbench, which, ip(last)),
            Step::Finish(which, more, pause) => self.finish(workbench, which, more, pause),
            Step::Later(ms) => self.now += ms,
        }
        assert_eq!(
            workbench.in_flight(),
            self.busy.iter().filter(|(_, address)| address.is_some()).count()
        );
    }

    fn look_up_again(&mut self, workbench: &mut Workbench, which: usize) {
        let free: Vec<usize> = (0..self.busy.len()).filter(|n| self.busy[*n].1.is_none()).collect();
        let Some(n) = free.get(which % free.len().max(1)) else { return };
        let (host, _) = self.busy.remove(*n);
        workbench.look_up(host);
        self.owed.insert(host.0);
    }

    fn hold(&mut self, workbench: &mut Workbench, which: usize, address: IpAddr) {
        let free: Vec<usize> = (0..self.busy.len()).filter(|n| self.busy[*n].1.is_none()).collect();
        let Some(n) = free.get(which % free.len().max(1)) else { return };
        let host = self.busy[*n].0;
        let free = self.address_free.get(&address).copied().unwrap_or(0);
        if workbench.hold(host, address, free, self.now) {
            assert!(free <= self.now, "too early for {address}");
            assert!(
                self.busy.iter().all(|(_, held)| *held != Some(address)),
                "two requests to {address}"
            );
            self.busy[*n].1 = Some(address);
        } else {
            self.busy.remove(*n);
            self.owed.insert(host.0);
        }
    }

    fn finish(&mut self, workbench: &mut Workbench, which: usize, more: bool, pause: u64) {
        if self.busy.is_empty() {
            return;
        }
        let (host, address) = self.busy.remove(which % self.busy.len());
        if let Some(address) = address {
            workbench.free_address(address, self.now + pause);
            self.address_free.insert(address, self.now + pause);
        }
        let due = self.now + pause;
        workbench.release(host, due, more);
        self.not_before.insert(host, due);
        if more {
            self.owed.insert(host.0);
        }
    }
}

proptest! {
    #[test]
    fn the_rules_hold_and_no_host_starves(steps in prop::collection::vec(step(), 0..200)) {
        let mut workbench = Workbench::default();
        let mut observer = Observer::default();
        for step in &steps {
            observer.step(&mut workbench, step);
        }
        observer.now += 1_000;
        while !observer.owed.is_empty() || !observer.busy.is_empty() {
            let owed = observer.owed.len();
            let busy = observer.busy.len();
            let resolving = observer.resolving.len();
            observer.step(&mut workbench, &Step::LookUp);
            observer.step(&mut workbench, &Step::Resolved(0));
            observer.step(&mut workbench, &Step::Take);
            observer.step(&mut workbench, &Step::Finish(0, false, 0));
            let progress = observer.owed.len() < owed || observer.busy.len() < busy
                || observer.resolving.len() < resolving;
            prop_assert!(progress, "stuck: {:?}", workbench);
        }
        prop_assert!(workbench.hosts.is_empty());
        prop_assert_eq!(workbench.in_flight(), 0);
    }
}

#[test]
fn new_work_brings_a_host_forward_but_not_before_it_may_be_asked() {
    let mut workbench = Workbench::default();
    workbench.offer_later(A, 20, 500);
    look_names_up(&mut workbench);
    assert_eq!((workbench.has_work_until(499), workbench.has_work_until(500)), (false, true));
    offer(&mut workbench, A, 5);
    assert_eq!(workbench.next_due(), Some(20));
    assert_eq!((workbench.take(19), workbench.take(20)), (None, Some(A)));
    assert!(workbench.has_work_until(0), "a request is going on");
    workbench.release_until(A, 30, Some(900));
    assert_eq!(workbench.next_due(), Some(900));
    workbench.offer_later(A, 0, 400);
    look_names_up(&mut workbench);
    assert_eq!(workbench.next_due(), Some(400));
    workbench.offer_later(A, 0, 700);
    look_names_up(&mut workbench);
    assert_eq!(workbench.next_due(), Some(400), "later work puts nothing off");
}

#[test]
fn a_retired_host_is_asked_no_more_and_is_idle_when_its_request_is_over() {
    let mut workbench = with_busy_hosts();
    assert!(workbench.hold(A, ip(1), 0, 0));
    assert!(!workbench.hold(B, ip(1), 0, 0) && !workbench.hold(C, ip(1), 0, 0));
    workbench.retire(B);
    assert!(workbench.is_idle(B), "it only queued");
    workbench.retire(A);
    assert!(!workbench.is_idle(A), "a request is going on");
    offer(&mut workbench, A, 0);
    workbench.free_address(ip(1), 0);
    workbench.release(A, 0, true);
    assert!(workbench.is_idle(A));
    assert_eq!(workbench.take(99), Some(C), "the queue goes on without it");
    offer(&mut workbench, A, 0);
    assert_eq!((workbench.take(99), workbench.borrow(A, 0, 7)), (None, Err(7)));
    workbench.retire(C);
    workbench.release(C, 0, true);
    workbench.forget(A);
    offer(&mut workbench, A, 0);
    assert_eq!(workbench.take(0), Some(A));
}

#[test]
fn a_host_is_asked_only_when_its_name_was_looked_up() {
    let mut workbench = Workbench::default();
    workbench.offer(A, 20);
    workbench.offer_later(B, 5, 10);
    assert_eq!((workbench.take(99), workbench.next_due()), (None, None));
    assert_eq!((workbench.next_unresolved(), workbench.take_unresolved(9)), (Some(10), None));
    assert_eq!(workbench.take_unresolved(10), Some(B));
    assert_eq!((workbench.take(99), workbench.activity(B)), (None, HostActivity::Resolving));
    assert!(workbench.has_work_until(0), "a lookup is running");
    workbench.offer(B, 0);
    workbench.resolved(B);
    assert_eq!((workbench.take(4), workbench.take(5)), (None, Some(B)), "it was brought forward");
    workbench.look_up(B);
    assert_eq!((workbench.take(99), workbench.activity(B)), (None, HostActivity::Waiting));
    assert_eq!(workbench.take_unresolved(99), Some(B), "it was due before its name expired");
    assert_eq!(workbench.take_unresolved(99), Some(A), "by due time");
    assert_eq!(workbench.borrow(A, 19, 99), Err(20), "not before it is due");
    assert_eq!(workbench.borrow(A, 20, 99), Ok(()), "for a request to its address");
    workbench.resolved(A);
    assert_eq!(workbench.activity(A), HostActivity::Running, "the lookup changes nothing");
    workbench.release_until(A, 50, None);
    assert_eq!(workbench.take(50), Some(A), "its own work is not forgotten");
}

#[test]
fn a_host_that_waits_for_long_has_its_name_looked_up_again() {
    let mut workbench = Workbench::default();
    offer(&mut workbench, A, 0);
    assert_eq!(workbench.take(1_000), Some(A));
    workbench.release_until(A, 2_000, Some(31_000));
    assert_eq!((workbench.next_unresolved(), workbench.take(31_000)), (None, Some(A)));
    workbench.release_until(A, 32_000, Some(61_001));
    assert_eq!((workbench.next_unresolved(), workbench.take(99_000)), (Some(61_001), None));
    workbench.offer(A, 0);
    assert_eq!(workbench.next_unresolved(), Some(32_000), "earlier work does not change that");
    assert_eq!(workbench.take_unresolved(32_000), Some(A));
    workbench.retire(A);
    workbench.resolved(A);
    assert!(workbench.is_idle(A) && workbench.take(99_000).is_none());
}

#[test]
fn a_request_that_is_over_leaves_its_share_to_others() {
    let mut workbench = Workbench::new(1);
    offer(&mut workbench, A, 0);
    offer(&mut workbench, B, 0);
    assert_eq!(workbench.take(0), Some(A));
    assert_eq!(workbench.take(0), None, "one slot for hosts that are not known to be fast");
    workbench.request_is_over(A);
    offer(&mut workbench, A, 0);
    assert_eq!((workbench.take(0), workbench.take(0)), (Some(B), None), "the first is still busy");
    workbench.release(A, 5, false);
    workbench.release(B, 9, false);
    assert_eq!(workbench.take(9), Some(A), "work came meanwhile");
}
