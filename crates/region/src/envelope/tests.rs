use model::AgentId;

use super::*;
use crate::message::Bundle;
use crate::ownership::{HostAtAddress, HostPosition, SignedView};
use crate::roster::{Mode, Roster, RosterAgent, SignedRoster};

const REGION: RegionId = RegionId::new(1);
const ME: AgentId = AgentId::new(1);
const OTHER: AgentId = AgentId::new(2);

fn key(agent: AgentId) -> AgentKey {
    AgentKey::from_seed([agent.get() as u8; 32])
}

fn view(coordinator: &CoordinatorKey) -> View {
    let entry = |agent: AgentId| RosterAgent::new(agent, key(agent).public());
    let roster = Roster {
        region: REGION,
        epoch: 1,
        voters_since: 1,
        mode: Mode::Safe,
        replicas: 20,
        recovery: 1,
        agents: [ME, OTHER].map(entry).into(),
        delegations: Vec::new(),
    };
    let roster = SignedRoster::new(coordinator, &roster).unwrap();
    View::restore(&coordinator.public(), SignedView { roster, deltas: Vec::new() }).unwrap()
}

#[test]
fn a_bundle_is_taken_that_many_other_messages_have_overtaken() {
    let coordinator = CoordinatorKey::from_seed([100; 32]);
    let view = view(&coordinator);
    let mut sealer = Sealer::new(REGION, Peer::Agent(OTHER), 1);
    let mut filter = EnvelopeFilter::new(REGION, Peer::Agent(ME), coordinator.public());
    let other = key(OTHER);
    let mut seal =
        |message| sealer.seal(&SenderKey::Agent(&other), Peer::Agent(ME), message).unwrap();
    let front = model::CrawlUrl::parse("http://h.example/").unwrap();
    let position = HostPosition::of(front.host_key_str());
    let host = HostAtAddress { position, address: [10, 0, 0, 1].into() };
    let bundle = Bundle { number: 1, is_copy: false, host, front, bytes: vec![] };
    let bundle = seal(Message::Bundle(bundle));
    assert_eq!(bundle.header().unwrap().lane, Lane::Bundles);
    for number in 0..2 * WINDOW {
        filter.open(&seal(Message::UrlsTaken(number)), &view, Millis(1)).unwrap();
    }
    assert!(filter.open(&bundle, &view, Millis(1)).is_ok());
    let again = filter.open(&bundle, &view, Millis(1)).map(drop);
    assert_eq!(again, Err(Refusal::Replay));
}

#[test]
fn a_message_is_read_only_when_its_sender_signed_it() {
    let coordinator = CoordinatorKey::from_seed([100; 32]);
    let from = Peer::Agent(OTHER);
    let to = Peer::Agent(ME);
    let header = Header { region: REGION, from, to, lane: Lane::Others };
    // Addresses without a message: whoever reads it finds another format.
    let body = postcard::to_allocvec(&header).unwrap();
    let opened = |key: &AgentKey| {
        let signature = key.sign(Purpose::RegionMessage, &body);
        let envelope = Envelope { body: body.clone(), signature };
        let view = view(&coordinator);
        let mut filter = EnvelopeFilter::new(REGION, Peer::Agent(ME), coordinator.public());
        let verified = envelope.verify(&view, &coordinator.public()).map(drop);
        (filter.open(&envelope, &view, Millis(1)).map(drop), verified)
    };
    let forged = Err(Refusal::Signature);
    let genuine = Err(Refusal::Format);
    assert_eq!(opened(&key(ME)), (forged, forged));
    assert_eq!(opened(&key(OTHER)), (genuine, genuine));
}
