//! The workbench by itself.

use std::net::{IpAddr, Ipv4Addr};

use super::*;

const A: HostNumber = HostNumber(1);
const B: HostNumber = HostNumber(2);
const C: HostNumber = HostNumber(3);

pub(super) fn ip(last: u8) -> IpAddr {
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
fn an_offer_ends_a_rest_of_days_and_no_shorter_one() {
    const HOUR: u64 = 3_600_000;
    for (rest, due) in [(5 * HOUR, 5 * HOUR), (96 * HOUR, 3 * HOUR)] {
        let mut workbench = Workbench::default();
        offer(&mut workbench, A, 0);
        assert_eq!(workbench.take(0), Some(A));
        workbench.finish(A, rest, Some(rest));
        offer(&mut workbench, A, 3 * HOUR);
        assert_eq!(workbench.next_due(), Some(due));
    }
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
fn a_retired_host_that_is_refused_an_address_is_idle() {
    let mut workbench = with_busy_hosts();
    assert!(workbench.hold(A, ip(1), 0, 0));
    workbench.retire(B);
    assert!(!workbench.hold(B, ip(1), 0, 0));
    assert!(workbench.is_idle(B), "it does not queue");
    workbench.retire(C);
    assert!(!workbench.hold(C, ip(2), 9, 0), "nothing may be sent to the address yet");
    assert!(workbench.is_idle(C));
    workbench.free_address(ip(1), 0);
    assert!(workbench.hold_address(ip(1), 0) && workbench.hold_address(ip(2), 0));
    assert_eq!(workbench.take(99), None);
}

#[test]
fn a_host_that_comes_back_does_not_have_its_old_place_in_a_queue() {
    let mut workbench = with_busy_hosts();
    assert!(workbench.hold(A, ip(1), 0, 0));
    assert!(!workbench.hold(B, ip(1), 0, 0));
    workbench.retire(B);
    workbench.forget(B);
    offer(&mut workbench, B, 500);
    workbench.free_address(ip(1), 0);
    assert_eq!(workbench.take(499), None, "it may not be visited yet");
    assert_eq!((workbench.take(500), workbench.take(500)), (Some(B), None));
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
