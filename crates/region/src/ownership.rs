//! Ownership: which agent a host belongs to, under one version of roster and delegations.
//!
//! The order of a host's agents is the agent to which its subnet is delegated, then the ring's
//! order. It does not depend on which agents are alive; the first living agent of the order owns
//! the host. The address of a host is the one that its discoverer found; it travels with the host,
//! so that another answer of DNS does not give another order.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::sync::Arc;

use model::{AgentId, RegionId};
use protocol::key::PublicKey;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::delegations::{Change, Delegate, Delegations};
use crate::peer::Peer;
use crate::ring::{Ring, Share};
use crate::roster::{Delta, Roster, RosterAgent, RosterError, SignedDelta, SignedRoster, Version};

/// Position of a host on the ring: the first 8 bytes of the SHA-256 of its host key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct HostPosition(pub u64);

impl HostPosition {
    /// The position of the host with this key ([`model::HostKey::as_str`]).
    pub fn of(host_key: &str) -> Self {
        let digest: [u8; 32] = Sha256::digest(host_key.as_bytes()).into();
        Self(digest[..8].iter().fold(0, |word, byte| word << 8 | u64::from(*byte)))
    }
}

/// Position and address of a host, which determine its owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostAtAddress {
    /// Place on the ring.
    pub position: HostPosition,
    /// The address that the host's discoverer found.
    pub address: IpAddr,
}

/// One version of roster and delegations, ready for lookups. Cheap to clone.
#[derive(Debug, Clone)]
pub struct View {
    version: Version,
    roster: Arc<Roster>,
    ring: Arc<Ring>,
    voters: Arc<BTreeSet<Peer>>,
    delegations: Arc<Delegations>,
    /// What the coordinator signed, to be passed on to peers that have an older version.
    signed: Arc<SignedView>,
}

/// What a [`View`] was made from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignedView {
    /// Roster of the epoch.
    pub roster: SignedRoster,
    /// Deltas since, in order.
    pub deltas: Vec<SignedDelta>,
}

impl SignedView {
    /// Region of the roster. Whoever made the roster up can have written anything.
    pub fn alleged_region(&self) -> Result<RegionId, RosterError> {
        self.roster.header().map(|(region, _)| region)
    }

    /// Version to which the deltas lead, if the coordinator signed roster and deltas.
    pub(crate) fn alleged_version(&self) -> Result<Version, RosterError> {
        let (_, epoch) = self.roster.header()?;
        Ok(Version { epoch, delta: self.deltas.len() as u64 })
    }
}

impl View {
    /// The view of a signed roster, if it was signed with `key` and is consistent.
    pub fn open(key: &PublicKey, signed: SignedRoster) -> Result<Self, RosterError> {
        let roster = signed.open(key)?;
        roster.check()?;
        let share = |entry: &RosterAgent| Share {
            agent: entry.agent,
            key: entry.key.to_bytes(),
            replicas: u32::from(entry.weight) * u32::from(roster.replicas),
        };
        let shares: Vec<Share> = roster.agents.iter().map(share).collect();
        let view = Self {
            version: roster.version(),
            ring: Arc::new(Ring::new(&shares)?),
            voters: Arc::new(roster.voters()),
            delegations: Arc::new(Delegations::new(roster.delegations.iter().copied())?),
            roster: Arc::new(roster),
            signed: Arc::new(SignedView { roster: signed, deltas: Vec::new() }),
        };
        view.check_delegates(view.delegations.agents())?;
        Ok(view)
    }

    /// The view after a delta of the same epoch.
    pub fn after(&self, key: &PublicKey, signed: SignedDelta) -> Result<Self, RosterError> {
        let mut view = self.clone();
        view.advance(key, signed)?;
        Ok(view)
    }

    /// Applies a delta of the same epoch. After an error the view must not be used.
    fn advance(&mut self, key: &PublicKey, signed: SignedDelta) -> Result<(), RosterError> {
        let delta: Delta = signed.open(key)?;
        if delta.region != self.roster.region {
            return Err(RosterError::Region(delta.region));
        }
        if delta.version <= self.version {
            return Err(RosterError::Old(delta.version));
        }
        let next = Version { delta: self.version.delta + 1, ..self.version };
        if delta.version != next {
            return Err(RosterError::Gap(delta.version));
        }
        // Copied for the first delta only, where another view shares them.
        let delegations = Arc::make_mut(&mut self.delegations);
        for change in &delta.changes {
            delegations.apply(*change)?;
        }
        let named = delta.changes.iter().filter_map(|change| match change {
            Change::Set(_, Delegate::Agent(agent)) => Some(*agent),
            Change::Set(_, Delegate::Spread) | Change::Remove(_) => None,
        });
        self.check_delegates(named)?;
        self.version = next;
        Arc::make_mut(&mut self.signed).deltas.push(signed);
        Ok(())
    }

    /// The view of a roster with its deltas.
    pub fn restore(key: &PublicKey, signed: SignedView) -> Result<Self, RosterError> {
        let mut view = Self::open(key, signed.roster)?;
        view.advance_all(key, signed.deltas)?;
        Ok(view)
    }

    /// As [`Self::restore`], of a newer version than this one. Where it begins with this one, only
    /// the deltas that this view lacks are applied: a large region has tens of thousands of ranges.
    pub fn newer(&self, key: &PublicKey, signed: SignedView) -> Result<Self, RosterError> {
        let known = self.signed.deltas.len();
        let is_newer =
            signed.roster == self.signed.roster && signed.deltas.starts_with(&self.signed.deltas);
        if !is_newer {
            return Self::restore(key, signed);
        }
        let mut view = self.clone();
        view.advance_all(key, signed.deltas.into_iter().skip(known))?;
        Ok(view)
    }

    fn advance_all(
        &mut self,
        key: &PublicKey,
        deltas: impl IntoIterator<Item = SignedDelta>,
    ) -> Result<(), RosterError> {
        deltas.into_iter().try_for_each(|delta| self.advance(key, delta))
    }

    /// Version of roster and deltas.
    pub fn version(&self) -> Version {
        self.version
    }

    pub fn roster(&self) -> &Roster {
        &self.roster
    }

    pub fn voters(&self) -> &BTreeSet<Peer> {
        &self.voters
    }

    /// Whether the agent is a member.
    pub fn has(&self, agent: AgentId) -> bool {
        self.voters.contains(&Peer::Agent(agent))
    }

    pub fn delegations(&self) -> &Delegations {
        &self.delegations
    }

    pub fn ring(&self) -> &Ring {
        &self.ring
    }

    /// What the coordinator signed.
    pub fn signed(&self) -> &SignedView {
        &self.signed
    }

    /// Whether hosts at this address are the region's.
    pub fn contains(&self, address: IpAddr) -> bool {
        self.delegations.lookup(address).is_some()
    }

    /// All agents in the order in which they would own the host.
    pub fn order(&self, host: HostAtAddress) -> impl Iterator<Item = AgentId> + '_ {
        let delegate = match self.delegations.lookup(host.address) {
            Some(Delegate::Agent(agent)) => Some(agent),
            Some(Delegate::Spread) | None => None,
        };
        let ring = self.ring.order(host.position.0);
        delegate.into_iter().chain(ring.filter(move |agent| Some(*agent) != delegate))
    }

    /// The first agent of the order for which `is_alive` holds; none if the host is not the
    /// region's.
    pub fn owner(
        &self,
        host: HostAtAddress,
        is_alive: impl FnMut(&AgentId) -> bool,
    ) -> Option<AgentId> {
        if !self.contains(host.address) {
            return None;
        }
        self.order(host).find(is_alive)
    }

    fn check_delegates(&self, mut named: impl Iterator<Item = AgentId>) -> Result<(), RosterError> {
        match named.find(|agent| !self.has(*agent)) {
            Some(agent) => Err(RosterError::Unlisted(agent)),
            None => Ok(()),
        }
    }
}
