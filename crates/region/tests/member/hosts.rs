//! Hosts of a member when its region changes.

use std::net::IpAddr;

use model::AgentId;
use protocol::key::CoordinatorKey;
use region::delegations::{Change, Delegate, Range};
use region::effect::{BundleToPack, CopiedView};
use region::lease::Promises;
use region::member::SavedMember;
use region::message::{Bundle, RoutedUrl};
use region::ownership::SignedView;
use region::roster::{Delta, SignedDelta, Version};
use region::{Effect, Member, Message, Millis, Peer, Settings};

use crate::{
    ME, OTHER, REGION, coordinator, identity, member, member_that_shares, routed, signed_with,
};

/// The member that joins later.
const NEW: AgentId = AgentId::new(3);

/// Copies that the member sends now.
fn copies(member: &mut Member, now: u64) -> Vec<BundleToPack> {
    let effects = member.tick(Millis(now));
    let copies = effects.iter().filter_map(|effect| match effect {
        Effect::Pack(packing) if packing.is_copy => Some(*packing),
        _ => None,
    });
    copies.collect()
}

/// What the member stores after this tick: for what all copies were taken.
fn copied(member: &mut Member, now: u64) -> Option<CopiedView> {
    let effects = member.tick(Millis(now));
    effects.into_iter().find_map(|effect| match effect {
        Effect::SaveCopied(copied) => Some(copied),
        _ => None,
    })
}

fn restore_hosts(member: &mut Member) {
    for number in 0..50 {
        member.restore_host(&routed(&format!("h{number}.test"), [10, 0, 0, 7].into()));
    }
}

/// A third member joins.
fn grow(member: &mut Member, now: u64) {
    let subnet = Range { first: [10, 0, 0, 0].into(), last: [10, 0, 0, 255].into() };
    let view = signed_with(6, subnet, &[ME, OTHER, NEW], &coordinator());
    member.handle(Peer::Coordinator, Message::View(view), Millis(now));
}

/// The member after a restart, with this on its disk.
fn restarted(member: &Member, copied: Option<CopiedView>) -> Member {
    let view = member.view().signed().clone();
    let promises = Some(Promises::default());
    let saved = SavedMember { view, promises, copied, loan_until: member.loan_until() };
    let mut member = Member::start(identity(), Settings::default(), saved, Millis(100)).unwrap();
    restore_hosts(&mut member);
    member
}

#[test]
fn hosts_of_a_subnet_that_left_the_region_are_handed_back() {
    let mut member = member_that_shares();
    let host = routed("a.test", [10, 0, 0, 7].into());
    member.restore_host(&host);
    let other = Range { first: [10, 0, 1, 0].into(), last: [10, 0, 1, 255].into() };
    let view = signed_with(6, other, &[ME, OTHER], &coordinator());
    member.handle(Peer::Coordinator, Message::View(view), Millis(1));
    let effects = member.tick(Millis(2));
    assert!(effects.contains(&Effect::HandBack(host)), "{effects:?}");
    assert_eq!(member.known_hosts(), 0);
}

#[test]
fn a_member_keeps_the_hosts_that_are_its_own_also_outside_of_the_region() {
    let mut member = member();
    let host = routed("a.test", [10, 0, 0, 7].into());
    member.restore_host(&host);
    let other = Range { first: [10, 0, 1, 0].into(), last: [10, 0, 1, 255].into() };
    let view = signed_with(6, other, &[ME, OTHER], &coordinator());
    member.handle(Peer::Coordinator, Message::View(view), Millis(1));
    let effects = member.tick(Millis(2));
    assert!(effects.contains(&Effect::LeaveRegion(host)), "{effects:?}");
    let view = signed_with(7, other, &[ME, OTHER], &coordinator());
    member.handle(Peer::Coordinator, Message::View(view), Millis(3));
    let later = member.tick(Millis(4));
    for effects in [effects, later] {
        assert!(!effects.iter().any(|effect| matches!(effect, Effect::HandBack(_))), "{effects:?}");
    }
}

#[test]
fn a_new_member_gets_copies_of_the_hosts_that_it_would_take_over() {
    let mut member = member();
    restore_hosts(&mut member);
    member.tick(Millis(1));
    grow(&mut member, 2);
    let sent = copies(&mut member, 3);
    assert!(sent.len() > 10, "of about half of the hosts: {sent:?}");
    assert!(sent.iter().all(|copy| copy.to == NEW), "{sent:?}");
    member.tick(Millis(4));
    let repeated = copies(&mut member, 5);
    assert!(repeated.is_empty(), "{repeated:?}");
}

/// A member in a region whose delegations change often must not verify and apply all changes since
/// the roster with each.
#[test]
fn only_new_deltas_of_a_known_roster_are_applied() {
    let mut member = member();
    let roster = member.view().signed().roster.clone();
    let delta = |number: u8, by: &CoordinatorKey| {
        let first = [10, 0, number, 0].into();
        let range = Range { first, last: [10, 0, number, 255].into() };
        let changes = vec![Change::Set(range, Delegate::Agent(OTHER))];
        let version = Version { epoch: 5, delta: number.into() };
        SignedDelta::new(by, &Delta { region: REGION, version, changes }).unwrap()
    };
    let first = delta(1, &coordinator());
    let mut tell = |deltas: Vec<SignedDelta>| {
        let view = SignedView { roster: roster.clone(), deltas };
        member.handle(Peer::Coordinator, Message::View(view), Millis(1));
        member.view().clone()
    };
    assert_eq!(tell(vec![first.clone()]).version(), Version { epoch: 5, delta: 1 });
    let view = tell(vec![first.clone(), delta(2, &coordinator())]);
    assert_eq!(view.version(), Version { epoch: 5, delta: 2 });
    assert!(view.contains([10, 0, 1, 1].into()) && view.contains([10, 0, 2, 1].into()));
    let forger = CoordinatorKey::from_seed([66; 32]);
    let second = delta(2, &coordinator());
    let view = tell(vec![first.clone(), second.clone(), delta(3, &forger)]);
    assert_eq!(view.version(), Version { epoch: 5, delta: 2 }, "what is new is verified");
    let view = tell(vec![delta(1, &forger), second, delta(3, &coordinator())]);
    assert_eq!(view.version(), Version { epoch: 5, delta: 2 }, "and what differs");
    assert_eq!(view.signed().deltas[0], first, "what is passed on was verified");
}

#[test]
fn hosts_are_to_be_returned_until_their_bundles_were_taken() {
    let mut member = member();
    restore_hosts(&mut member);
    member.tick(Millis(1));
    assert!(!member.has_hosts_to_return());
    member.sleep(60_000, Millis(2));
    assert!(member.has_hosts_to_return(), "they were not looked at");
    let effects = member.tick(Millis(3));
    let returns: Vec<BundleToPack> = effects
        .iter()
        .filter_map(|effect| match effect {
            Effect::Pack(packing) if !packing.is_copy => Some(*packing),
            _ => None,
        })
        .collect();
    assert_eq!(returns.len(), 50);
    for packing in returns {
        assert!(member.has_hosts_to_return());
        member.handle(Peer::Agent(OTHER), Message::BundleTaken(packing.number), Millis(4));
    }
    assert!(!member.has_hosts_to_return());
}

#[test]
fn a_new_host_does_not_hold_up_the_check_of_the_others() {
    let mut member = member_that_shares();
    let inside = IpAddr::from([10, 0, 0, 7]);
    let outside = IpAddr::from([10, 0, 1, 7]);
    let hosts = 5 * Settings::default().hosts_a_step;
    for number in 0..hosts {
        member.restore_host(&routed(&format!("h{number}.test"), inside));
    }
    member.tick(Millis(1));
    let other = Range { first: [10, 0, 1, 0].into(), last: [10, 0, 1, 255].into() };
    let view = signed_with(6, other, &[ME, OTHER], &coordinator());
    member.handle(Peer::Coordinator, Message::View(view), Millis(2));
    for step in 0..20 {
        member.restore_host(&routed(&format!("new{step}.test"), outside));
        member.tick(Millis(3 + step));
    }
    assert_eq!(member.known_hosts(), 20, "the others were handed back");
}

#[test]
fn copies_that_were_not_taken_are_sent_after_a_restart() {
    let mut member = member();
    restore_hosts(&mut member);
    let before = copied(&mut member, 1);
    assert!(before.is_some());
    grow(&mut member, 2);
    let sent = copies(&mut member, 3);
    assert_eq!(copied(&mut member, 4), None, "they are on their way");

    let mut again = restarted(&member, before);
    let sent_again = copies(&mut again, 101);
    let hosts = |sent: &[BundleToPack]| {
        sent.iter().map(|copy| (copy.host.position, copy.to)).collect::<Vec<_>>()
    };
    assert_eq!(hosts(&sent_again), hosts(&sent));

    for copy in &sent_again {
        again.handle(Peer::Agent(NEW), Message::BundleTaken(copy.number), Millis(102));
    }
    let after = copied(&mut again, 103);
    assert!(after.is_some(), "all were taken");
    let mut last = restarted(&again, after);
    assert_eq!(copies(&mut last, 201), []);
}

#[test]
fn bundles_add_a_bounded_number_of_hosts_a_day() {
    let mut member = member_that_shares();
    let mut is_taken = |number: u64| {
        let RoutedUrl { host, url: front, .. } =
            routed(&format!("n{number}.test"), [10, 0, 0, 7].into());
        let bundle = Bundle { number, is_copy: true, host, front, bytes: vec![] };
        let effects = member.handle(Peer::Agent(OTHER), Message::Bundle(bundle), Millis(1));
        let is_stored = effects.iter().any(|effect| matches!(effect, Effect::Store(_)));
        let taken = Effect::Send(Peer::Agent(OTHER), Message::BundleTaken(number));
        assert_eq!(effects.contains(&taken), is_stored, "the sender keeps what is not stored");
        is_stored
    };
    assert!((1..=1_000_000).all(&mut is_taken));
    assert!(!is_taken(1_000_001));
    assert!(is_taken(7), "a known host");
}
