//! Roster: the signed list of a region's agents, with the rules by which they work together.
//!
//! The coordinator signs a whole [`Roster`] for each epoch, and numbered [`Delta`]s for the changes
//! of delegations in between. A signature covers the very bytes that are sent, so that there is no
//! second encoding that could differ. [`Version`] orders both.

use std::collections::{BTreeMap, BTreeSet};

use model::{AgentId, RegionId};
use protocol::key::{CoordinatorKey, KeyError, PublicKey, Purpose, Signature};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::delegations::{Change, Delegate, DelegationError, Range};
use crate::peer::Peer;
use crate::ring::RingError;

/// Largest weight of an agent.
pub const MAX_WEIGHT: u16 = 1_000;
/// Largest number of replicas for each unit of weight.
pub const MAX_REPLICAS: u16 = 1_000;
/// Most replicas of all agents: a bound on the memory of a ring, about 100 MB.
pub const MAX_POINTS: u64 = 8 << 20;

/// What happens while agents disagree on which of them are alive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Mode {
    /// A host is fetched only under a lease of a majority; a minority stops.
    Safe,
    /// Each agent goes on with its own view, as in UbiCrawler; overlap is possible.
    Available,
}

/// Version of roster and delegations, ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
pub struct Version {
    /// Number of the roster.
    pub epoch: u64,
    /// Number of the last delta after it; 0 without any.
    pub delta: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RosterAgent {
    /// The agent whose entry this is.
    pub agent: AgentId,
    /// Key of its messages, and seed of its replicas.
    pub key: PublicKey,
    /// Share of the work relative to the other agents, at least 1.
    pub weight: u16,
    /// Base URLs at which it listens for peers; empty if it only opens connections.
    pub addresses: Vec<String>,
}

impl RosterAgent {
    /// An agent of the least weight that only opens connections.
    pub fn new(agent: AgentId, key: PublicKey) -> Self {
        Self { agent, key, weight: 1, addresses: vec![] }
    }
}

/// One epoch of a region.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Roster {
    /// The region whose roster this is.
    pub region: RegionId,
    /// Number of this roster, larger than that of the one before.
    pub epoch: u64,
    /// Epoch in which the set of voters changed last.
    pub voters_since: u64,
    /// Whether fetching needs leases.
    pub mode: Mode,
    /// Replicas for each unit of weight: *k* of UbiCrawler.
    pub replicas: u16,
    /// Number of next-nearest agents that are asked for a host's bundle: *t* of UbiCrawler.
    pub recovery: u8,
    /// Members of the region.
    pub agents: Vec<RosterAgent>,
    /// Delegations at the beginning of the epoch.
    pub delegations: Vec<(Range, Delegate)>,
}

/// Changes of delegations within an epoch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delta {
    /// The region whose delegations change.
    pub region: RegionId,
    /// Version that the changes lead to; the version before has the delta number before.
    pub version: Version,
    /// Changes in order.
    pub changes: Vec<Change>,
}

/// Something signed by the coordinator: the encoded bytes and the signature over them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Signed {
    body: Vec<u8>,
    signature: Signature,
}

/// A roster with the coordinator's signature.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SignedRoster(Signed);

/// A delta with the coordinator's signature.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SignedDelta(Signed);

/// A roster or delta that is not used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RosterError {
    /// Not signed by the coordinator.
    #[error("the coordinator did not sign it: {0}")]
    Signature(#[from] KeyError),
    /// Signed, but of another format.
    #[error("it cannot be read")]
    Format,
    /// Of another region.
    #[error("it is of {0}")]
    Region(RegionId),
    /// Not newer than what is known.
    #[error("its version {0:?} is not newer")]
    Old(Version),
    /// A delta that does not follow the version that is known.
    #[error("deltas before {0:?} are missing")]
    Gap(Version),
    /// An agent is listed twice.
    #[error("{0} is listed twice")]
    Twice(AgentId),
    /// Weight or number of replicas out of bounds.
    #[error("the weight of {0} or the number of replicas is out of bounds")]
    Weight(AgentId),
    /// A range is delegated to an agent that is not listed.
    #[error("{0} has a delegation and is not listed")]
    Unlisted(AgentId),
    /// The agents form no ring.
    #[error(transparent)]
    Ring(#[from] RingError),
    /// The delegations contradict each other.
    #[error(transparent)]
    Delegation(#[from] DelegationError),
}

impl Signed {
    fn new(key: &CoordinatorKey, purpose: Purpose, content: &impl Serialize) -> Option<Self> {
        let body = postcard::to_allocvec(content).ok()?;
        let signature = key.sign(purpose, &body);
        Some(Self { body, signature })
    }

    fn open<T: DeserializeOwned>(
        &self,
        key: &PublicKey,
        purpose: Purpose,
    ) -> Result<T, RosterError> {
        key.verify(purpose, &self.body, &self.signature)?;
        postcard::from_bytes(&self.body).map_err(|_| RosterError::Format)
    }
}

impl SignedRoster {
    /// Signs a roster.
    pub fn new(key: &CoordinatorKey, roster: &Roster) -> Result<Self, RosterError> {
        Signed::new(key, Purpose::Roster, roster).map(Self).ok_or(RosterError::Format)
    }

    /// The roster, if the coordinator with this key signed it.
    pub fn open(&self, key: &PublicKey) -> Result<Roster, RosterError> {
        self.0.open(key, Purpose::Roster)
    }

    /// Region and epoch, unverified: a forged roster may name any. They are the beginning of what
    /// is signed.
    pub(crate) fn header(&self) -> Result<(RegionId, u64), RosterError> {
        let read = postcard::take_from_bytes(&self.0.body);
        read.map(|(header, _)| header).map_err(|_| RosterError::Format)
    }
}

impl SignedDelta {
    /// Signs a delta.
    pub fn new(key: &CoordinatorKey, delta: &Delta) -> Result<Self, RosterError> {
        Signed::new(key, Purpose::RosterDelta, delta).map(Self).ok_or(RosterError::Format)
    }

    /// The delta, if the coordinator with this key signed it.
    pub fn open(&self, key: &PublicKey) -> Result<Delta, RosterError> {
        self.0.open(key, Purpose::RosterDelta)
    }
}

impl Roster {
    /// Version before any delta.
    pub fn version(&self) -> Version {
        Version { epoch: self.epoch, delta: 0 }
    }

    /// All parties with a vote on leases: the coordinator and every agent.
    pub fn voters(&self) -> BTreeSet<Peer> {
        let agents = self.agents.iter().map(|entry| Peer::Agent(entry.agent));
        agents.chain([Peer::Coordinator]).collect()
    }

    /// Whether a majority of voters refuses claims under versions before this one. `floors` has,
    /// for each voter that reported it, the oldest version under which it still grants leases.
    pub fn majority_refuses_before(
        &self,
        version: Version,
        floors: &BTreeMap<Peer, Version>,
    ) -> bool {
        let voters = self.voters();
        let refuses = |voter: &&Peer| floors.get(voter).is_some_and(|floor| *floor >= version);
        2 * voters.iter().filter(refuses).count() > voters.len()
    }

    /// The entry of an agent.
    pub fn agent(&self, agent: AgentId) -> Option<&RosterAgent> {
        self.agents.iter().find(|entry| entry.agent == agent)
    }

    /// Checks what can be checked without building the ring.
    pub(crate) fn check(&self) -> Result<(), RosterError> {
        let mut seen = BTreeSet::new();
        let mut points = 0_u64;
        for entry in &self.agents {
            if !seen.insert(entry.agent) {
                return Err(RosterError::Twice(entry.agent));
            }
            points += u64::from(entry.weight) * u64::from(self.replicas);
            let weight = (1..=MAX_WEIGHT).contains(&entry.weight);
            let replicas = (1..=MAX_REPLICAS).contains(&self.replicas);
            if !weight || !replicas || points > MAX_POINTS {
                return Err(RosterError::Weight(entry.agent));
            }
        }
        Ok(())
    }
}

/// Whether the coordinator may now issue a roster with these agents after `roster`.
///
/// Majorities of two rosters must have a voter in common, else each could grant a lease for the
/// same host. So the set of voters changes by one at a time, and not again before a majority of the
/// voters refuse claims under the roster before the last change. `floors` is that of
/// [`Roster::majority_refuses_before`]; `settled` says that a lease's term has passed since such a
/// majority reported.
pub fn voters_may_change(
    roster: &Roster,
    agents: &BTreeSet<AgentId>,
    floors: &BTreeMap<Peer, Version>,
    settled: bool,
) -> bool {
    let before: BTreeSet<AgentId> = roster.agents.iter().map(|entry| entry.agent).collect();
    let changed = before.symmetric_difference(agents).count();
    if changed == 0 || roster.mode == Mode::Available {
        return true;
    }
    let since = Version { epoch: roster.voters_since, delta: 0 };
    changed == 1 && settled && roster.majority_refuses_before(since, floors)
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::key::AgentKey;

    fn roster(agents: &[i64]) -> Roster {
        let entry = |number: &i64| {
            RosterAgent::new(
                AgentId::new(*number),
                AgentKey::from_seed([*number as u8; 32]).public(),
            )
        };
        Roster {
            region: RegionId::new(1),
            epoch: 4,
            voters_since: 3,
            mode: Mode::Safe,
            replicas: 10,
            recovery: 1,
            agents: agents.iter().map(entry).collect(),
            delegations: vec![],
        }
    }

    #[test]
    fn only_the_coordinator_signs() {
        let key = CoordinatorKey::from_seed([1; 32]);
        let signed = SignedRoster::new(&key, &roster(&[1, 2])).unwrap();
        assert_eq!(signed.open(&key.public()), Ok(roster(&[1, 2])));
        let other = CoordinatorKey::from_seed([2; 32]);
        assert!(matches!(signed.open(&other.public()), Err(RosterError::Signature(_))));
        let mut forged = signed;
        forged.0.body[3] ^= 1;
        assert!(matches!(forged.open(&key.public()), Err(RosterError::Signature(_))));
    }

    #[test]
    fn a_signature_of_a_delta_is_none_of_a_roster() {
        let key = CoordinatorKey::from_seed([1; 32]);
        let version = Version { epoch: 4, delta: 1 };
        let delta = Delta { region: RegionId::new(1), version, changes: vec![] };
        let signed = SignedDelta::new(&key, &delta).unwrap();
        assert_eq!(signed.open(&key.public()), Ok(delta));
        assert!(matches!(
            SignedRoster(signed.0).open(&key.public()),
            Err(RosterError::Signature(_))
        ));
    }

    #[test]
    fn rosters_out_of_bounds_are_refused() {
        assert_eq!(roster(&[1, 2]).check(), Ok(()));
        assert_eq!(roster(&[1, 2, 1]).check(), Err(RosterError::Twice(AgentId::new(1))));
        let mut heavy = roster(&[1, 2]);
        heavy.agents[1].weight = 0;
        assert_eq!(heavy.check(), Err(RosterError::Weight(AgentId::new(2))));
        heavy.agents[1].weight = MAX_WEIGHT + 1;
        assert!(heavy.check().is_err());
    }

    #[test]
    fn voters_change_one_at_a_time() {
        let roster = roster(&[1, 2, 3]);
        let set = |agents: &[i64]| agents.iter().map(|agent| AgentId::new(*agent)).collect();
        let at = |epoch| Version { epoch, delta: 0 };
        let agents = [1, 2].map(|agent| Peer::Agent(AgentId::new(agent)));
        let mut floors = BTreeMap::from(agents.map(|agent| (agent, at(3))));
        assert!(voters_may_change(&roster, &set(&[1, 2, 3]), &floors, false));
        assert!(!voters_may_change(&roster, &set(&[1, 2, 3, 4]), &floors, true), "2 of 4");
        floors.insert(Peer::Coordinator, at(3));
        assert!(voters_may_change(&roster, &set(&[1, 2, 3, 4]), &floors, true));
        assert!(voters_may_change(&roster, &set(&[1, 2]), &floors, true));
        assert!(!voters_may_change(&roster, &set(&[1, 2]), &floors, false));
        assert!(!voters_may_change(&roster, &set(&[1, 2, 3, 4, 5]), &floors, true));
        floors.insert(Peer::Coordinator, at(2));
        assert!(!voters_may_change(&roster, &set(&[1, 2]), &floors, true));
    }
}
