//! The admin's hand: who crawls what whatever is measured, and who never does.
//!
//! A [`Pin`] comes before everything else; where it holds, nothing searches, balances or settles.
//! An [`Exclusion`] keeps an agent out of searches. [`due`] compares the delegation table with both and says
//! what is to be done; doing it again finds nothing.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::hash::BuildHasher;

use hierarchy::{Hierarchy, Scope, SubnetId, SubnetKind};
use model::{AgentId, ExclusionId, PinId};

use crate::{AvailableAgents, Delegation, DelegationTable};

/// This agent crawls it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pin {
    /// Its name.
    pub id: PinId,
    /// What.
    pub scope: Scope,
    /// Who.
    pub agent: AgentId,
}

/// This agent never crawls it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exclusion {
    /// Its name.
    pub id: ExclusionId,
    /// What.
    pub scope: Scope,
    /// Who.
    pub agent: AgentId,
}

/// Pins and exclusions that count now.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Constraints {
    /// The narrowest first.
    pins: Vec<Pin>,
    exclusions: Vec<Exclusion>,
}

impl Constraints {
    /// Of these, in any order. Admins make dozens of them, so that every question reads them
    /// through.
    pub fn new(mut pins: Vec<Pin>, exclusions: Vec<Exclusion>) -> Self {
        pins.sort_by_key(|pin| pin.scope.breadth());
        Self { pins, exclusions }
    }

    /// Whether admins leave everything to the search.
    pub fn is_empty(&self) -> bool {
        self.pins.is_empty() && self.exclusions.is_empty()
    }

    /// The pins, the narrowest first.
    pub fn pins(&self) -> &[Pin] {
        &self.pins
    }

    /// The exclusions.
    pub fn exclusions(&self) -> &[Exclusion] {
        &self.exclusions
    }

    /// The pin that holds the subnet: the narrowest around it.
    pub fn pin(&self, hierarchy: &Hierarchy, subnet: SubnetId) -> Option<&Pin> {
        self.pins.iter().find(|pin| pin.scope.covers(hierarchy, subnet))
    }

    /// Why the agent may not have the subnet. A pin is the stronger word.
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

    /// The roster that a search for the subnet may ask and choose from.
    pub fn permitted<'r>(
        &self,
        hierarchy: &Hierarchy,
        roster: &'r AvailableAgents,
        subnet: SubnetId,
    ) -> Cow<'r, AvailableAgents> {
        let mut permitted = Cow::Borrowed(roster);
        for exclusion in &self.exclusions {
            if roster.knows(exclusion.agent) && exclusion.scope.covers(hierarchy, subnet) {
                permitted.to_mut().remove(exclusion.agent);
            }
        }
        permitted
    }
}

/// A delegation that is not as admins want it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Correction {
    /// It goes to the agent that is pinned there.
    Assign {
        /// The pin.
        pin: PinId,
        /// Its agent.
        agent: AgentId,
    },
    /// Its agent may not keep it, or was pinned there and is no longer: a search finds who shall
    /// have it.
    Reopen {
        /// Who has it until then.
        from: AgentId,
        /// Why.
        reason: ReopenReason,
    },
}

/// Why a subnet is searched for anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReopenReason {
    /// The pin that held it there is over.
    PinOver,
    /// Its agent is excluded.
    Excluded(ExclusionId),
}

/// What is to be done so that the delegation table is as admins want it, in the order of the subnets. `marked`
/// are the subnets that a pin holds according to the store; `wanted` are subnets that hosts wait
/// for.
pub fn corrections<Hasher: BuildHasher>(
    hierarchy: &Hierarchy,
    constraints: &Constraints,
    delegation_table: &DelegationTable,
    marked: &HashMap<SubnetId, PinId, Hasher>,
    wanted: impl IntoIterator<Item = SubnetId>,
) -> BTreeMap<SubnetId, Correction> {
    let held = delegation_table.iter().filter_map(|(subnet, holding)| {
        Some((
            subnet,
            of_held(hierarchy, constraints, subnet, holding, marked.get(&subnet).copied())?,
        ))
    });
    let free = wanted.into_iter().chain(named(hierarchy, constraints));
    let free = free.filter(|subnet| delegation_table.get(*subnet).is_none());
    let given = free.filter_map(|subnet| Some((subnet, give(constraints.pin(hierarchy, subnet)?))));
    held.chain(given).collect()
}

/// Subnets that a pin names exactly: they are delegated though no host waits for them.
fn named<'s>(
    hierarchy: &'s Hierarchy,
    constraints: &'s Constraints,
) -> impl Iterator<Item = SubnetId> + 's {
    let ranges = constraints.pins.iter().filter_map(|pin| match &pin.scope {
        Scope::Range(range) => hierarchy.find(range),
        Scope::Company { .. } | Scope::Country(_) => None,
    });
    ranges.filter(|subnet| hierarchy.subnet(*subnet).kind() == SubnetKind::Delegated)
}

fn of_held(
    hierarchy: &Hierarchy,
    constraints: &Constraints,
    subnet: SubnetId,
    holding: Delegation,
    mark: Option<PinId>,
) -> Option<Correction> {
    let from = holding.agent;
    match (constraints.pin(hierarchy, subnet), mark) {
        (Some(pin), Some(mark)) if pin.id == mark && pin.agent == from => None,
        (Some(pin), _) => Some(give(pin)),
        (None, Some(_)) => Some(Correction::Reopen { from, reason: ReopenReason::PinOver }),
        (None, None) => {
            let exclusion = constraints.exclusion(hierarchy, subnet, from)?;
            Some(Correction::Reopen { from, reason: ReopenReason::Excluded(exclusion.id) })
        }
    }
}

fn give(pin: &Pin) -> Correction {
    Correction::Assign { pin: pin.id, agent: pin.agent }
}
