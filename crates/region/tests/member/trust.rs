//! What members say of hosts that they cannot have had.

use model::AgentId;
use region::delegations::{Delegate, Range};
use region::message::{Batch, Bundle, Heartbeat, RoutedUrl, UrlPurpose};
use region::ownership::SignedView;
use region::roster::Version;
use region::{Denial, Effect, Member, Message, Millis, Peer, Permit};

use crate::{ME, OTHER, coordinator, delegated, member_with, routed};

const THIRD: AgentId = AgentId::new(3);
const NOW: Millis = Millis(10_000);

/// A view of three members, in which the subnet is this one's.
fn view(epoch: u64, agent: AgentId) -> SignedView {
    let subnet = Range { first: [10, 0, 0, 0].into(), last: [10, 0, 0, 255].into() };
    delegated(epoch, (subnet, Delegate::Agent(agent)), &[ME, OTHER, THIRD], &coordinator())
}

/// A member that has heard the others and has a loan.
fn member_of(epoch: u64, agent: AgentId) -> Member {
    let mut member = member_with(view(epoch, agent));
    member.lent(86_400_000, NOW);
    hear(&mut member, OTHER, NOW);
    hear(&mut member, THIRD, NOW);
    member.tick(NOW);
    member
}

/// The member of three that has the subnet.
fn member() -> Member {
    member_of(5, ME)
}

fn hear(member: &mut Member, agent: AgentId, now: Millis) {
    let version = Version { epoch: 5, delta: 0 };
    let heartbeat = Heartbeat { incarnation: 1, version, floor: version, sleep_ms: None };
    member.handle(Peer::Agent(agent), Message::Heartbeat(heartbeat), now);
}

/// A host whose order is this member, then `next`, then the other one.
fn host_before(member: &Member, next: AgentId) -> RoutedUrl {
    let mut hosts = (0..).map(|number| routed(&format!("h{number}.test"), [10, 0, 0, 7].into()));
    let is_next = |url: &RoutedUrl| member.view().order(url.host).nth(1) == Some(next);
    hosts.find(is_next).unwrap()
}

fn hand_over(member: &mut Member, from: AgentId, url: &RoutedUrl, now: Millis) -> bool {
    let RoutedUrl { host, url: front, .. } = url.clone();
    let bundle = Bundle { number: 7, is_copy: false, host, front, bytes: vec![] };
    let effects = member.handle(Peer::Agent(from), Message::Bundle(bundle), now);
    assert!(effects.contains(&Effect::Send(Peer::Agent(from), Message::BundleTaken(7))));
    let believed = effects.into_iter().find_map(|effect| match effect {
        Effect::Store { is_believed, .. } => Some(is_believed),
        _ => None,
    });
    believed.unwrap()
}

/// Whether the member asks for the host's bundle before it fetches.
fn is_recovered(member: &mut Member, url: &RoutedUrl, now: Millis) -> bool {
    assert!(!matches!(member.permit(url.host, now), Permit::Denied(Denial::Unknown)));
    let asked = Effect::Send(Peer::Agent(OTHER), Message::BundleRequest(vec![url.host]));
    member.tick(now).contains(&asked)
}

#[test]
fn the_bundle_of_one_that_cannot_have_had_the_host_replaces_no_other() {
    let mut member = member();
    let url = host_before(&member, OTHER);
    assert!(!hand_over(&mut member, THIRD, &url, NOW));
    assert!(is_recovered(&mut member, &url, NOW));
    assert!(hand_over(&mut member, OTHER, &url, NOW));
    assert!(member.permit(url.host, NOW).is_granted());
}

#[test]
fn a_fetch_of_one_that_cannot_have_had_the_host_is_not_believed() {
    let mut member = member();
    let url = host_before(&member, OTHER);
    let mut noted = |from| {
        let fetched = RoutedUrl { purpose: UrlPurpose::Fetched, ..url.clone() };
        let batch = Message::Urls(Batch { number: 1, urls: vec![fetched] });
        let effects = member.handle(Peer::Agent(from), batch, NOW);
        effects.into_iter().find_map(|effect| match effect {
            Effect::Note(url) => Some(url.purpose),
            _ => None,
        })
    };
    assert_eq!(noted(THIRD), Some(UrlPurpose::Known));
    assert_eq!(noted(OTHER), Some(UrlPurpose::Fetched));
}

#[test]
fn one_that_stood_in_for_a_member_that_was_away_is_believed() {
    let mut member = member();
    let url = host_before(&member, OTHER);
    let later = NOW.plus(100_000);
    hear(&mut member, THIRD, later);
    member.tick(later);
    let back = later.plus(1_000);
    hear(&mut member, OTHER, back);
    member.tick(back);
    assert!(hand_over(&mut member, THIRD, &url, back));
    assert!(!is_recovered(&mut member, &url, back));
}

#[test]
fn the_former_owner_is_believed() {
    let url = host_before(&member(), OTHER);
    let mut member = member_of(5, THIRD);
    member.handle(Peer::Coordinator, Message::View(view(6, ME)), NOW);
    assert!(hand_over(&mut member, THIRD, &url, NOW));
}

#[test]
fn bundles_add_a_bounded_number_of_hosts_a_day() {
    let mut member = member();
    let send = |member: &mut Member, number: u64, is_copy| {
        let url = routed(&format!("n{number}.test"), [10, 0, 0, 7].into());
        let bundle = Bundle { number, is_copy, host: url.host, front: url.url, bytes: vec![] };
        let effects = member.handle(Peer::Agent(OTHER), Message::Bundle(bundle), NOW);
        let is_stored = effects.iter().any(|effect| matches!(effect, Effect::Store { .. }));
        let taken = Effect::Send(Peer::Agent(OTHER), Message::BundleTaken(number));
        (is_stored, effects.contains(&taken))
    };
    assert!((1..=200_000).all(|number| send(&mut member, number, true) == (true, true)));
    assert_eq!(send(&mut member, 200_001, true), (false, true), "a copy is left out");
    assert_eq!(send(&mut member, 7, true), (true, true), "a known host");
    assert_eq!(member.known_hosts(), 200_000);
}
