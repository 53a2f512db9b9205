//! A hostile peer: what it sends is refused and counted, and the region is unharmed.

use std::net::IpAddr;

use model::CrawlUrl;
use protocol::key::CoordinatorKey;
use region::delegations::{Delegate, Range};
use region::envelope::{Envelope, Refusal, Sealer, SenderKey};
use region::member::{Link, LinkOutcome};
use region::message::{
    BATCH_URLS, Batch, Bundle, Heartbeat, LeaseRefusal, LeaseRequest, RoutedUrl, SerialNumber,
    UrlPurpose, Versions,
};
use region::roster::Version;
use region::{Effect, Member, Message, Millis, Peer, Settings};

use crate::{
    ME, OTHER, REGION, STRANGER, coordinator, delegated, filter, joined, key, member,
    member_that_shares, routed, signed, view,
};

#[test]
fn the_filter_refuses_forged_and_repeated_messages() {
    let mut filter = filter();
    let view = view();
    let mut seal = Sealer::new(REGION, Peer::Agent(OTHER), 7);
    let honest = key(OTHER);
    let wrong = key(STRANGER);
    let message = || Message::UrlsTaken(1);
    let mut open = |envelope: &_| filter.open(envelope, &view, Millis(1)).map(|(from, _)| from);

    let forged = seal.seal(&SenderKey::Agent(&wrong), Peer::Agent(ME), message()).unwrap();
    assert_eq!(open(&forged), Err(Refusal::Signature));
    let genuine = seal.seal(&SenderKey::Agent(&honest), Peer::Agent(ME), message()).unwrap();
    assert_eq!(open(&genuine), Ok(Peer::Agent(OTHER)));
    assert_eq!(open(&genuine), Err(Refusal::Replay));
    let elsewhere = seal.seal(&SenderKey::Agent(&honest), Peer::Coordinator, message()).unwrap();
    assert_eq!(open(&elsewhere), Err(Refusal::Receiver));
    let mut unknown = Sealer::new(REGION, Peer::Agent(STRANGER), 1);
    let unknown = unknown.seal(&SenderKey::Agent(&wrong), Peer::Agent(ME), message()).unwrap();
    assert_eq!(open(&unknown), Err(Refusal::Stranger));
    let mut former = Sealer::new(REGION, Peer::Agent(OTHER), 6);
    let former = former.seal(&SenderKey::Agent(&honest), Peer::Agent(ME), message()).unwrap();
    assert_eq!(open(&former), Err(Refusal::Replay), "of a former process");
    let coordinator = coordinator();
    let mut from_coordinator = Sealer::new(REGION, Peer::Coordinator, 1);
    let genuine = from_coordinator
        .seal(&SenderKey::Coordinator(&coordinator), Peer::Agent(ME), message())
        .unwrap();
    assert_eq!(open(&genuine), Ok(Peer::Coordinator));
    assert_eq!(filter.refused()[&Refusal::Replay], 2);
}

#[test]
fn a_message_that_was_verified_ahead_passes_the_same_filter() {
    let mut filter = filter();
    let key = coordinator().public();
    let mut seal = Sealer::new(REGION, Peer::Agent(OTHER), 7);
    let mut sealed =
        |by, to| seal.seal(&SenderKey::Agent(&crate::key(by)), to, Message::UrlsTaken(1)).unwrap();
    let forged = sealed(STRANGER, Peer::Agent(ME)).verify(&view(), &key);
    assert_eq!(forged.err(), Some(Refusal::Signature));
    let mut open = |envelope: &Envelope| {
        let verified = envelope.verify(&view(), &key).unwrap();
        filter.open_verified(verified, Millis(1)).map(|(from, _)| from)
    };
    let genuine = sealed(OTHER, Peer::Agent(ME));
    assert_eq!(open(&genuine), Ok(Peer::Agent(OTHER)));
    assert_eq!(open(&genuine), Err(Refusal::Replay));
    assert_eq!(open(&sealed(OTHER, Peer::Coordinator)), Err(Refusal::Receiver));
    assert_eq!(filter.refused()[&Refusal::Replay], 1);
}

#[test]
fn late_messages_are_taken_once() {
    let mut filter = filter();
    let view = view();
    let mut seal = Sealer::new(REGION, Peer::Agent(OTHER), 7);
    let key = key(OTHER);
    let envelopes: Vec<_> = (0..200)
        .map(|number| {
            let message = Message::UrlsTaken(number);
            seal.seal(&SenderKey::Agent(&key), Peer::Agent(ME), message).unwrap()
        })
        .collect();
    let mut is_open = |at: usize| filter.open(&envelopes[at], &view, Millis(1)).is_ok();
    assert!(is_open(150));
    assert!(is_open(100));
    assert!(!is_open(100));
    assert!(is_open(199));
    assert!(!is_open(150));
    assert!(!is_open(10), "too old to be told from a repetition");
}

#[test]
fn a_flood_is_refused_until_time_has_passed() {
    let mut filter = filter();
    let view = view();
    let mut seal = Sealer::new(REGION, Peer::Agent(OTHER), 7);
    let key = key(OTHER);
    let mut opened = 0;
    let mut send = |now, opened: &mut u32| {
        let message = Message::UrlsTaken(1);
        let envelope = seal.seal(&SenderKey::Agent(&key), Peer::Agent(ME), message).unwrap();
        let outcome = filter.open(&envelope, &view, Millis(now));
        *opened += u32::from(outcome.is_ok());
        outcome.err()
    };
    while send(0, &mut opened) != Some(Refusal::Flood) {}
    assert_eq!(opened, 2_000);
    assert_eq!(send(5, &mut opened), Some(Refusal::Flood));
    assert_eq!(send(1_000, &mut opened), None);
}

#[test]
fn urls_that_are_not_the_regions_are_for_the_coordinator() {
    let mut member = member();
    let inside = IpAddr::from([10, 0, 0, 7]);
    let misplaced = RoutedUrl { host: routed("a.test", inside).host, ..routed("b.test", inside) };
    let foreign = routed("c.test", [192, 0, 2, 1].into());
    let own = routed("d.test", inside);
    let batch = Batch { number: 3, urls: vec![misplaced, foreign.clone(), own.clone()] };
    let effects = member.handle(Peer::Agent(OTHER), Message::Urls(batch), Millis(1));
    let taken = Effect::Send(Peer::Agent(OTHER), Message::UrlsTaken(3));
    assert_eq!(effects, [Effect::Foreign(foreign), Effect::Accept(own.clone()), taken]);
    assert_eq!(member.counts().refused, 2);
    let huge = Batch { number: 4, urls: vec![own; BATCH_URLS + 1] };
    assert!(member.handle(Peer::Agent(OTHER), Message::Urls(huge), Millis(2)).is_empty());
    assert_eq!(member.counts().refused, 3, "two URLs, and a batch that is too large");
}

#[test]
fn a_site_with_endless_host_names_does_not_fill_the_memory() {
    let mut member = member();
    let inside = IpAddr::from([10, 0, 0, 7]);
    let mut effects = Vec::new();
    let mut offer = |number: u32| {
        let url = CrawlUrl::parse(&format!("http://h{number}.test/")).unwrap();
        let link = Link { url, depth: 1, redirects: 0 };
        member.offer(link, inside, Millis(1), &mut effects)
    };
    assert!((0..50_000).all(|number| offer(number) == LinkOutcome::Own));
    assert_eq!(offer(50_000), LinkOutcome::Foreign);
    assert_eq!(offer(7), LinkOutcome::Own, "a known host");
    let late = routed("late.test", inside);
    let batch = Batch { number: 3, urls: vec![late.clone()] };
    let effects = member.handle(Peer::Agent(OTHER), Message::Urls(batch), Millis(2));
    assert!(effects.contains(&Effect::Foreign(late)), "{effects:?}");
    assert_eq!(member.known_hosts(), 50_000);
}

#[test]
fn links_to_an_owner_that_takes_none_go_to_the_coordinator() {
    let subnet = Range { first: [10, 0, 0, 0].into(), last: [10, 0, 0, 255].into() };
    let owned = delegated(5, (subnet, Delegate::Agent(OTHER)), &[ME, OTHER], &coordinator());
    let settings = Settings { waiting_urls: 20, ..Settings::default() };
    let mut member = joined(owned, settings);
    let offer = |member: &mut Member, path: u32, now| {
        let url = CrawlUrl::parse(&format!("http://other.example/{path}")).unwrap();
        let link = Link { url, depth: 1, redirects: 0 };
        member.offer(link, [10, 0, 0, 7].into(), now, &mut Vec::new())
    };
    assert!((0..10).all(|path| offer(&mut member, path, Millis(0)) == LinkOutcome::Queued));
    assert_eq!(offer(&mut member, 10, Millis(0)), LinkOutcome::Full);
    member.tick(Millis(1_500));
    assert_eq!(offer(&mut member, 10, Millis(2_000)), LinkOutcome::Full);
    let late = Millis(62_000);
    assert_eq!(offer(&mut member, 10, late), LinkOutcome::Foreign);
    let waiting = member.waiting_urls();
    member.fetched(
        CrawlUrl::parse("http://other.example/own").unwrap(),
        [10, 0, 0, 7].into(),
        late,
    );
    assert_eq!(member.waiting_urls(), waiting, "a notice for it has no room");
    let known = member.handle(Peer::Agent(OTHER), Message::UrlsTaken(1 << 40), late);
    assert!(known.iter().any(|effect| matches!(effect, Effect::Forget(urls) if urls.len() == 10)));
    assert_eq!(offer(&mut member, 10, late), LinkOutcome::Queued);
}

#[test]
fn notices_leave_room_for_the_hosts_of_links() {
    let mut member = member_that_shares();
    let inside = IpAddr::from([10, 0, 0, 7]);
    let numbers: Vec<u32> = (0..60_000).collect();
    for (number, part) in (1..).zip(numbers.chunks(BATCH_URLS)) {
        let notice = |host: &u32| RoutedUrl {
            purpose: UrlPurpose::Known,
            ..routed(&format!("noticed{host}.test"), inside)
        };
        let batch = Batch { number, urls: part.iter().map(notice).collect() };
        member.handle(Peer::Agent(OTHER), Message::Urls(batch), Millis(1));
    }
    assert_eq!(member.known_hosts(), numbers.len());
    let accepted = (0..10).any(|number| {
        let url = routed(&format!("linked{number}.test"), inside).url;
        let link = Link { url, depth: 1, redirects: 0 };
        member.offer(link, inside, Millis(1), &mut Vec::new()) == LinkOutcome::Own
    });
    assert!(accepted, "some of ten hosts are its own");
}

#[test]
fn a_version_that_does_not_exist_is_not_promised() {
    let mut member = member();
    let mut ask = |count, epoch| {
        let number = SerialNumber { incarnation: 1, count };
        let versions = Versions::new([Version { epoch, delta: 0 }]).unwrap();
        let request = LeaseRequest { number, since: number, versions, release: false };
        let message = Message::LeaseRequest(request);
        let effects = member.handle(Peer::Agent(OTHER), message, Millis(100_000));
        let answers = effects.into_iter().find_map(|effect| match effect {
            Effect::Send(_, Message::LeaseAnswer(answer)) => Some(answer.outcome),
            _ => None,
        });
        answers.unwrap().map(|_| ())
    };
    assert_eq!(ask(1, u64::MAX), Err(LeaseRefusal::NewVersion));
    assert_eq!(ask(2, 5), Ok(()));
}

#[test]
fn bundles_of_other_hosts_are_refused() {
    let mut member = member();
    let outside = routed("c.test", [192, 0, 2, 1].into());
    let other = routed("a.test", [10, 0, 0, 7].into());
    for (refused, host, front) in [(1, outside.host, &outside), (2, other.host, &outside)] {
        let bundle =
            Bundle { number: 1, is_copy: false, host, front: front.url.clone(), bytes: vec![] };
        let message = Message::Bundle(bundle);
        assert!(member.handle(Peer::Agent(OTHER), message, Millis(1)).is_empty());
        assert_eq!(member.counts().refused, refused);
    }
    assert_eq!(member.known_hosts(), 0);
}

#[test]
fn a_host_that_is_asked_for_often_is_sent_once() {
    let mut member = member_that_shares();
    let host = routed("a.test", [10, 0, 0, 7].into());
    member.restore_host(&host);
    let message = Message::BundleRequest(vec![host.host; 1_000]);
    let effects = member.handle(Peer::Agent(OTHER), message, Millis(1));
    assert!(effects.len() <= 1, "{effects:?}");
}

#[test]
fn rosters_of_others_and_old_ones_are_refused() {
    let mut member = member();
    let forger = CoordinatorKey::from_seed([66; 32]);
    let from = Peer::Agent(OTHER);
    for (view, newer) in [
        (signed(6, &forger), false),
        (signed(4, &coordinator()), false),
        (signed(5, &coordinator()), false),
        (signed(6, &coordinator()), true),
    ] {
        let effects = member.handle(from, Message::View(view), Millis(1));
        assert_eq!(!effects.is_empty(), newer);
        assert_eq!(member.counts().refused, 1, "only the first is forged");
    }
    assert_eq!(member.view().version(), Version { epoch: 6, delta: 0 });
}

/// An old view is not even read as far as its signature, which costs a member's time.
#[test]
fn an_old_view_is_refused_before_it_is_verified() {
    let mut member = member();
    let forger = CoordinatorKey::from_seed([66; 32]);
    member.handle(Peer::Agent(OTHER), Message::View(signed(5, &forger)), Millis(1));
    assert_eq!(member.counts().refused, 0, "whose it is was not looked at");
}

#[test]
fn strangers_are_not_heard() {
    let mut member = member();
    let version = Version { epoch: 1, delta: 0 };
    let number = SerialNumber { incarnation: 1, count: 1 };
    let heartbeat = Heartbeat { number, version, floor: version, sleep_ms: None };
    for from in [Peer::Agent(STRANGER), Peer::Agent(ME)] {
        assert!(member.handle(from, Message::Heartbeat(heartbeat), Millis(1)).is_empty());
    }
    assert_eq!(member.counts().refused, 2);
    // A member with an old roster gets the newer one.
    let effects = member.handle(Peer::Agent(OTHER), Message::Heartbeat(heartbeat), Millis(1));
    assert!(matches!(effects[..], [Effect::Send(Peer::Agent(OTHER), Message::View(_))]));
}
