//! A member alone, with what others send it.
#![expect(clippy::unwrap_used, reason = "a broken fixture fails the test")]

mod hostile;
mod hosts;

use std::net::IpAddr;

use model::{AgentId, CrawlUrl, RegionId};
use protocol::key::{AgentKey, CoordinatorKey};
use region::delegations::{Delegate, Range};
use region::envelope::EnvelopeFilter;
use region::lease::Promises;
use region::member::{Identity, SavedMember};
use region::message::{RoutedUrl, UrlPurpose};
use region::ownership::SignedView;
use region::roster::{Mode, Roster, RosterAgent, SignedRoster};
use region::{HostAtAddress, HostPosition, Member, Millis, Peer, Settings, View};

pub(crate) const REGION: RegionId = RegionId::new(1);
pub(crate) const ME: AgentId = AgentId::new(1);
pub(crate) const OTHER: AgentId = AgentId::new(2);
pub(crate) const STRANGER: AgentId = AgentId::new(9);

pub(crate) fn coordinator() -> CoordinatorKey {
    CoordinatorKey::from_seed([100; 32])
}

pub(crate) fn key(agent: AgentId) -> AgentKey {
    AgentKey::from_seed([agent.get() as u8; 32])
}

pub(crate) fn signed(epoch: u64, by: &CoordinatorKey) -> SignedView {
    let subnet = Range { first: [10, 0, 0, 0].into(), last: [10, 0, 0, 255].into() };
    signed_with(epoch, subnet, &[ME, OTHER], by)
}

/// A view of these agents, in which this subnet is the first one's.
pub(crate) fn signed_with(
    epoch: u64,
    subnet: Range,
    agents: &[AgentId],
    by: &CoordinatorKey,
) -> SignedView {
    delegated(epoch, (subnet, Delegate::Agent(ME)), agents, by)
}

pub(crate) fn delegated(
    epoch: u64,
    delegation: (Range, Delegate),
    agents: &[AgentId],
    by: &CoordinatorKey,
) -> SignedView {
    let entry = |agent: AgentId| RosterAgent::new(agent, key(agent).public());
    let roster = Roster {
        region: REGION,
        epoch,
        voters_since: 1,
        mode: Mode::Available,
        replicas: 20,
        recovery: 1,
        agents: agents.iter().copied().map(entry).collect(),
        delegations: vec![delegation],
    };
    SignedView { roster: SignedRoster::new(by, &roster).unwrap(), deltas: vec![] }
}

pub(crate) fn view() -> View {
    View::restore(&coordinator().public(), signed(5, &coordinator())).unwrap()
}

pub(crate) fn member() -> Member {
    member_with(signed(5, &coordinator()))
}

/// The member, with a subnet that is all members'.
pub(crate) fn member_that_shares() -> Member {
    let subnet = Range { first: [10, 0, 0, 0].into(), last: [10, 0, 0, 255].into() };
    member_with(delegated(5, (subnet, Delegate::Spread), &[ME, OTHER], &coordinator()))
}

pub(crate) fn member_with(view: SignedView) -> Member {
    joined(view, Settings::default())
}

/// The member that joins a region with these settings.
pub(crate) fn joined(view: SignedView, settings: Settings) -> Member {
    let saved = SavedMember::joining(view, Some(Promises::default()));
    Member::start(identity(), settings, saved, Millis(0)).unwrap()
}

pub(crate) fn identity() -> Identity {
    Identity { agent: ME, coordinator: coordinator().public(), incarnation: 1 }
}

pub(crate) fn filter() -> EnvelopeFilter {
    EnvelopeFilter::new(REGION, Peer::Agent(ME), coordinator().public())
}

pub(crate) fn routed(host: &str, address: IpAddr) -> RoutedUrl {
    let url = CrawlUrl::parse(&format!("http://{host}/")).unwrap();
    let host = HostAtAddress { position: HostPosition::of(url.host_key_str()), address };
    RoutedUrl::first(url, host, UrlPurpose::Fetch)
}
