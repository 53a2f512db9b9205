//! Constraints: pins, exclusions and drains by admins, which take precedence over measurements.
//!
//! Where a [`Pin`] holds, no search, balance or calibration moves a subnet. An [`Exclusion`] keeps
//! an agent out of searches. A drained agent gets no subnet at all, not even by a pin.
//! [`corrections`] compares the delegation table with pins and exclusions and says what must
//! change; once that is done it finds nothing.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::BuildHasher;

use hierarchy::{Hierarchy, Scope, SubnetId};
use model::{AgentId, ExclusionId, PinId};

use crate::{AvailableAgents, Delegation, DelegationTable};

/// Fixes the agent of all subnets in a scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pin {
    /// Row id, which delegations by the pin refer to.
    pub id: PinId,
    /// The subnets that it covers.
    pub scope: Scope,
    /// The agent that crawls them.
    pub agent: AgentId,
}

/// Keeps all subnets in a scope away from an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exclusion {
    /// Row id, which reopened searches refer to.
    pub id: ExclusionId,
    /// The subnets that it covers.
    pub scope: Scope,
    /// The agent that never crawls them.
    pub agent: AgentId,
}

/// Pins and exclusions that are in force, and the agents that are drained.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Constraints {
    /// The narrowest scope first.
    pins: Vec<Pin>,
    exclusions: Vec<Exclusion>,
    drained: BTreeSet<AgentId>,
}

impl Constraints {
    /// The constraints in any order. Admins make dozens of them, so that every query reads them
    /// all.
    pub fn new(mut pins: Vec<Pin>, exclusions: Vec<Exclusion>) -> Self {
        pins.sort_by_key(|pin| pin.scope.breadth());
        Self { pins, exclusions, drained: BTreeSet::new() }
    }

    /// The same constraints with these agents drained.
    #[must_use]
    pub fn with_drained(self, drained: BTreeSet<AgentId>) -> Self {
        Self { drained, ..self }
    }

    pub const fn drained(&self) -> &BTreeSet<AgentId> {
        &self.drained
    }

    /// Whether there are no pins and no exclusions.
    pub fn is_empty(&self) -> bool {
        self.pins.is_empty() && self.exclusions.is_empty()
    }

    /// The pins, the narrowest scope first.
    pub fn pins(&self) -> &[Pin] {
        &self.pins
    }

    /// The pins that are not suspended because their agent is drained.
    pub fn applied_pins(&self) -> Vec<&Pin> {
        self.pins.iter().filter(|pin| !self.drained.contains(&pin.agent)).collect()
    }

    /// The exclusions in the order in which they were given.
    pub fn exclusions(&self) -> &[Exclusion] {
        &self.exclusions
    }

    /// The pin that decides the agent of the subnet: the narrowest that covers it. Pins to a
    /// drained agent are suspended.
    pub fn pin(&self, hierarchy: &Hierarchy, subnet: SubnetId) -> Option<&Pin> {
        let mut pins = self.pins.iter().filter(|pin| !self.drained.contains(&pin.agent));
        pins.find(|pin| pin.scope.covers(hierarchy, subnet))
    }

    /// Whether the agent may not be given the subnet: it is drained, or excluded there.
    pub fn forbids(&self, hierarchy: &Hierarchy, subnet: SubnetId, agent: AgentId) -> bool {
        self.drained.contains(&agent) || self.exclusion(hierarchy, subnet, agent).is_some()
    }

    /// The exclusion that keeps the subnet away from the agent; none where a pin gives it to that
    /// agent, because pins come first.
    pub fn exclusion(
        &self,
        hierarchy: &Hierarchy,
        subnet: SubnetId,
        agent: AgentId,
    ) -> Option<&Exclusion> {
        let of_agent = |exclusion: &&Exclusion| exclusion.agent == agent;
        let mut excluding = self.exclusions.iter().filter(of_agent);
        let found = excluding.find(|exclusion| exclusion.scope.covers(hierarchy, subnet))?;
        let pinned = self.pin(hierarchy, subnet).is_some_and(|pin| pin.agent == agent);
        (!pinned).then_some(found)
    }

    /// The agents that a search for the subnet may ask and choose from.
    pub fn permitted<'a>(
        &self,
        hierarchy: &Hierarchy,
        agents: &'a AvailableAgents,
        subnet: SubnetId,
    ) -> Cow<'a, AvailableAgents> {
        let mut permitted = Cow::Borrowed(agents);
        for exclusion in &self.exclusions {
            if agents.knows(exclusion.agent) && exclusion.scope.covers(hierarchy, subnet) {
                permitted.to_mut().remove(exclusion.agent);
            }
        }
        for agent in &self.drained {
            if agents.knows(*agent) {
                permitted.to_mut().remove(*agent);
            }
        }
        permitted
    }
}

/// A change that constraints demand of a delegation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Correction {
    /// The subnet goes to the agent of a pin.
    Assign {
        /// The pin that covers the subnet.
        pin: PinId,
        /// The agent of the pin.
        agent: AgentId,
    },
    /// The agent may not keep the subnet, or had it by a pin that is gone: its search is reopened.
    Reopen {
        /// The agent that has it until the search decides.
        from: AgentId,
        /// Why the search is reopened.
        reason: ReopenReason,
    },
}

/// Why a search is reopened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReopenReason {
    /// The pin by which the agent had the subnet is gone.
    PinOver,
    /// The agent is excluded.
    Excluded(ExclusionId),
}

/// The changes that make the delegation table agree with the constraints, by subnet. `marked` are
/// the subnets that were delegated by a pin according to the store; `wanted` are subnets with hosts
/// that wait for an agent.
pub fn corrections<Hasher: BuildHasher>(
    hierarchy: &Hierarchy,
    constraints: &Constraints,
    delegation_table: &DelegationTable,
    marked: &HashMap<SubnetId, PinId, Hasher>,
    wanted: impl IntoIterator<Item = SubnetId>,
) -> BTreeMap<SubnetId, Correction> {
    let mut corrections = BTreeMap::new();
    // Most delegations are under no constraint: going through all of them would cost seconds.
    let constrained = constrained(hierarchy, constraints, delegation_table);
    let marked_subnets =
        marked.keys().filter_map(|subnet| Some((*subnet, delegation_table.get(*subnet)?)));
    for (subnet, delegation) in constrained.chain(marked_subnets) {
        let mark = marked.get(&subnet).copied();
        let correction = of_delegated(hierarchy, constraints, subnet, delegation, mark);
        corrections.extend(correction.map(|correction| (subnet, correction)));
    }
    for subnet in wanted.into_iter().chain(pinned_by_range(hierarchy, constraints)) {
        if delegation_table.get(subnet).is_none() {
            let assigned = constraints.pin(hierarchy, subnet).map(assign);
            corrections.extend(assigned.map(|correction| (subnet, correction)));
        }
    }
    corrections
}

/// Delegations that a pin covers, and those to an agent that is excluded there; some more than
/// once.
fn constrained<'a>(
    hierarchy: &'a Hierarchy,
    constraints: &'a Constraints,
    delegation_table: &'a DelegationTable,
) -> impl Iterator<Item = (SubnetId, Delegation)> + 'a {
    let covered = |scope| delegation_table.covered_by(hierarchy, scope);
    let pinned = constraints.pins.iter().flat_map(move |pin| covered(&pin.scope));
    let excluded = constraints.exclusions.iter().flat_map(move |exclusion| {
        covered(&exclusion.scope).filter(|(_, held)| held.agent == exclusion.agent)
    });
    pinned.chain(excluded)
}

/// Subnets that a pin names by their exact range: they are delegated though no host waits for them.
fn pinned_by_range<'s>(
    hierarchy: &'s Hierarchy,
    constraints: &'s Constraints,
) -> impl Iterator<Item = SubnetId> + 's {
    let ranges = constraints.pins.iter().filter_map(|pin| match &pin.scope {
        Scope::Range(range) => hierarchy.find(range),
        Scope::Company { .. } | Scope::Country(_) => None,
    });
    ranges.filter(|subnet| hierarchy.subnet(*subnet).may_be_delegated())
}

fn of_delegated(
    hierarchy: &Hierarchy,
    constraints: &Constraints,
    subnet: SubnetId,
    delegation: Delegation,
    mark: Option<PinId>,
) -> Option<Correction> {
    let from = delegation.agent;
    match (constraints.pin(hierarchy, subnet), mark) {
        (Some(pin), Some(mark)) if pin.id == mark && pin.agent == from => None,
        // Also where the agent is the right one already: the delegation must refer to the pin.
        (Some(pin), _) => Some(assign(pin)),
        (None, Some(_)) => Some(Correction::Reopen { from, reason: ReopenReason::PinOver }),
        (None, None) => {
            let exclusion = constraints.exclusion(hierarchy, subnet, from)?;
            let reason = ReopenReason::Excluded(exclusion.id);
            Some(Correction::Reopen { from, reason })
        }
    }
}

fn assign(pin: &Pin) -> Correction {
    Correction::Assign { pin: pin.id, agent: pin.agent }
}
