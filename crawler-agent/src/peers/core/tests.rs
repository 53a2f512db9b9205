//! What a running member does with requests and messages.

use std::net::IpAddr;

use protocol::key::{AgentKey, CoordinatorKey};
use region::delegations::{Delegate, Range};
use region::envelope::{Sealer, SenderKey};
use region::lease::Promises;
use region::roster::{Mode, Roster, RosterAgent, SignedRoster};

use super::*;

const REGION: RegionId = RegionId::new(3);
const ME: AgentId = AgentId::new(1);
const OTHER: AgentId = AgentId::new(2);

fn key(agent: AgentId) -> AgentKey {
    AgentKey::from_seed([agent.get() as u8; 32])
}

/// A member of a region of two.
fn core() -> Core {
    joined(None)
}

fn joined(rests_until: Option<Millis>) -> Core {
    let identity = Identity { agent: ME, coordinator: coordinator().public(), incarnation: 1 };
    let saved = SavedMember::joining(view(), Some(Promises::default()));
    Core::join(identity, Settings::default(), saved, Arc::default(), rests_until).unwrap()
}

fn coordinator() -> CoordinatorKey {
    CoordinatorKey::from_seed([9; 32])
}

/// A view of a region of two.
pub(in crate::peers) fn view() -> SignedView {
    let entry = |agent: AgentId| RosterAgent::new(agent, key(agent).public());
    let subnet = Range { first: [10, 0, 0, 0].into(), last: [10, 0, 0, 255].into() };
    let roster = Roster {
        region: REGION,
        epoch: 1,
        voters_since: 1,
        mode: Mode::Available,
        replicas: 20,
        recovery: 1,
        agents: [ME, OTHER].map(entry).into(),
        delegations: vec![(subnet, Delegate::Spread)],
    };
    let roster = SignedRoster::new(&coordinator(), &roster).unwrap();
    SignedView { roster, deltas: vec![] }
}

fn bundle(number: u64, bytes: Vec<u8>) -> Message {
    let front = CrawlUrl::parse("http://h.example/").unwrap();
    let position = HostPosition::of(front.host_key_str());
    let host = HostAtAddress { position, address: IpAddr::from([10, 0, 0, 1]) };
    Message::Bundle(Bundle { number, is_copy: false, host, front, bytes })
}

#[test]
fn an_agent_that_rests_when_it_joins_sleeps_from_the_beginning() {
    let url = CrawlUrl::parse("http://h.example/").unwrap();
    let position = HostPosition::of(url.host_key_str());
    let host = HostAtAddress { position, address: IpAddr::from([10, 0, 0, 1]) };
    let denial = |mut core: Core| core.permit(&url, host).0;
    assert_ne!(denial(core()), Permit::Denied(Denial::Asleep));
    let hour = elapsed_clock::now().plus(3_600_000);
    assert_eq!(denial(joined(Some(hour))), Permit::Denied(Denial::Asleep));
}

#[test]
fn the_report_counts_what_the_member_refuses() {
    let mut core = core();
    let mut sealer = Sealer::new(REGION, Peer::Agent(OTHER), 1);
    let empty = HostUrls::default().encode().unwrap();
    let Message::Bundle(mut bundle) = bundle(1, empty) else { panic!() };
    bundle.host.address = IpAddr::from([192, 0, 2, 1]);
    let to = Peer::Agent(ME);
    let message = Message::Bundle(bundle);
    let envelope = sealer.seal(&SenderKey::Agent(&key(OTHER)), to, message).unwrap();
    core.open(&envelope).unwrap();
    assert_eq!(core.report().refused, 1, "a host outside of the region");
}

#[test]
fn a_bundle_that_cannot_be_read_is_not_taken() {
    let mut core = core();
    let mut sealer = Sealer::new(REGION, Peer::Agent(OTHER), 1);
    let other = key(OTHER);
    let mut takes = |message| {
        let to = Peer::Agent(ME);
        let envelope = sealer.seal(&SenderKey::Agent(&other), to, message).unwrap();
        let (from, works) = core.open(&envelope).unwrap();
        assert_eq!(from, Peer::Agent(OTHER));
        works
            .iter()
            .any(|work| matches!(work, Work::Effect(Effect::Send(_, Message::BundleTaken(_)))))
    };
    assert!(!takes(bundle(1, vec![0xff; 9])), "its sender keeps it");
    assert!(takes(bundle(2, HostUrls::default().encode().unwrap())));
}

#[test]
fn bundles_that_wait_for_the_worker_are_bounded_by_their_bytes() {
    let mut core = core();
    let mut sealer = Sealer::new(REGION, Peer::Agent(OTHER), 1);
    let other = key(OTHER);
    let mut takes = |core: &mut Core, number| {
        let to = Peer::Agent(ME);
        let message = bundle(number, HostUrls::default().encode().unwrap());
        let envelope = sealer.seal(&SenderKey::Agent(&other), to, message).unwrap();
        !core.open(&envelope).unwrap().1.is_empty()
    };
    core.waiting_bundles = WAITING_BUNDLES;
    assert!(!takes(&mut core, 1), "its sender keeps it");
    core.bundle_is_stored(WAITING_BUNDLES);
    assert!(takes(&mut core, 2));
    assert_ne!(core.waiting_bundles, 0);
}

/// What is not stored with its address would not be handed back when the agent leaves the region.
#[test]
fn a_host_is_stored_as_the_regions_whatever_makes_it_known() {
    let mut core = core();
    let host_of = |url: &CrawlUrl| HostAtAddress {
        position: HostPosition::of(url.host_key_str()),
        address: IpAddr::from([10, 0, 0, 1]),
    };
    let adds = |works: &[Work]| works.iter().any(|work| matches!(work, Work::AddHost(_)));
    let mut own = (0..).map(|number| CrawlUrl::parse(&format!("http://h{number}.test/")).unwrap());
    let url = own.find(|url| core.member.destination(host_of(url)) == Some(ME)).unwrap();
    let link = Link { url: url.clone(), depth: 0, redirects: 0 };
    assert!(adds(&core.offer(&link, host_of(&url)).unwrap().1), "the frontier may have it already");
    assert!(!adds(&core.offer(&link, host_of(&url)).unwrap().1));
    assert!(!adds(&core.permit(&url, host_of(&url)).1));
}
