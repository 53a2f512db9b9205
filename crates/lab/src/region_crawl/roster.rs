//! The roster of a simulated region.

use std::net::IpAddr;

use model::{AgentId, RegionId};
use protocol::key::{AgentKey, CoordinatorKey, PublicKey};
use region::delegations::{Delegate, Range};
use region::ownership::SignedView;
use region::roster::{Mode, Roster, RosterAgent, RosterError, SignedRoster};

use crate::noise::Noise;

/// Address of all hosts: the region is one subnet, which is spread.
pub(super) const ADDRESS: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1));

/// Number of replicas of an agent: *k* of the paper.
const REPLICAS: u16 = 200;

/// Identifier of the agent with this number.
pub(super) fn agent_id(number: usize) -> AgentId {
    AgentId::new(i64::try_from(number).unwrap_or(i64::MAX))
}

/// A signed roster, with the key that verifies it.
pub(super) fn roster(
    agents: usize,
    recovery: u8,
    noise: Noise,
) -> Result<(SignedView, PublicKey), RosterError> {
    let key = CoordinatorKey::from_seed([1; 32]);
    let agent = |number: usize| {
        RosterAgent::new(agent_id(number), AgentKey::from_seed(seed(noise, number)).public())
    };
    let subnet = Range { first: ADDRESS, last: ADDRESS };
    let roster = Roster {
        region: RegionId::new(1),
        epoch: 1,
        voters_since: 1,
        mode: Mode::Available,
        replicas: REPLICAS,
        recovery,
        agents: (0..agents).map(agent).collect(),
        delegations: vec![(subnet, Delegate::Spread)],
    };
    let signed = SignedRoster::new(&key, &roster)?;
    Ok((SignedView { roster: signed, deltas: Vec::new() }, key.public()))
}

fn seed(noise: Noise, agent: usize) -> [u8; 32] {
    let mut seed = [0; 32];
    for (word, bytes) in seed.chunks_exact_mut(8).enumerate() {
        bytes.copy_from_slice(&noise.hash(&[agent as u64, word as u64]).to_le_bytes());
    }
    seed
}
