//! A small region for tests.

use model::{AgentId, RegionId, UnixMillis};
use protocol::key::{AgentKey, CoordinatorKey};
use region::delegations::{Delegate, Range};
use region::ownership::SignedView;
use region::roster::{Mode, Roster, RosterAgent, SignedRoster};
use region::{Millis, Settings};
use store::regions::StoredRegion;

use super::region_leader::{Now, RegionLeader};

/// The key of the coordinator that signs the roster.
pub(super) fn key() -> CoordinatorKey {
    CoordinatorKey::from_seed([7; 32])
}

/// The roster of a region with these agents. The first has 10.0.0.0/24.
pub(super) fn roster(agents: &[u8]) -> SignedRoster {
    let entry = |number: &u8| {
        let key = AgentKey::from_seed([*number; 32]).public();
        RosterAgent::new(AgentId::new((*number).into()), key)
    };
    let range = Range { first: [10, 0, 0, 0].into(), last: [10, 0, 0, 255].into() };
    let first = AgentId::new(agents[0].into());
    let roster = Roster {
        region: RegionId::new(1),
        epoch: 1,
        voters_since: 1,
        mode: Mode::Safe,
        replicas: 10,
        recovery: 1,
        agents: agents.iter().map(entry).collect(),
        delegations: vec![(range, Delegate::Agent(first))],
    };
    SignedRoster::new(&key(), &roster).unwrap()
}

/// A region with these agents and a loan, as its leader keeps it.
pub(super) fn leader(agents: &[u8], lent_until: i64) -> RegionLeader {
    let view = SignedView { roster: roster(agents), deltas: Vec::new() };
    let stored = StoredRegion {
        id: RegionId::new(1),
        name: "ripencc".into(),
        settings: serde_json::to_value(Settings::default()).unwrap(),
        view: postcard::to_allocvec(&view).unwrap(),
        promises: None,
        lent_until: UnixMillis(lent_until),
    };
    let now = Now { elapsed: Millis(1), wall: UnixMillis(1) };
    RegionLeader::restore(stored, &key(), (1_000, 1), now).unwrap()
}
