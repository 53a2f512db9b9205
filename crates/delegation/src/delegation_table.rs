//! Delegation table: all delegations of one generation of the hierarchy.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

use hierarchy::{CompanyId, Hierarchy, Scope, SubnetId};
use model::{AgentId, Reason};

use crate::AgentCounts;

/// All delegations, with the counts of agents that the search reads.
///
/// Ids of subnets mean nothing in another generation: a new hierarchy needs a new table. Every
/// method that changes the table takes the hierarchy whose ids it uses. A change costs a few steps
/// per ancestor (about eight) and never depends on the number of delegations.
#[derive(Debug, Clone, Default)]
pub struct DelegationTable {
    /// In the order of the addresses, so that a part of the space is read without the rest.
    delegations: BTreeMap<SubnetId, Delegation>,
    by_company: HashMap<CompanyId, AgentCounts>,
    /// Agents of the children of a subnet.
    by_parent: HashMap<SubnetId, AgentCounts>,
    /// Agents of all subnets below a subnet.
    by_ancestor: HashMap<SubnetId, AgentCounts>,
    /// Subnets of each agent.
    by_agent: BTreeMap<AgentId, BTreeSet<SubnetId>>,
    /// Subnets of each company, in one set for all, because most companies have a single subnet.
    of_companies: BTreeSet<(CompanyId, SubnetId)>,
}

/// The agent of a subnet, and why it has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delegation {
    /// The agent that crawls the subnet.
    pub agent: AgentId,
    /// Why this agent.
    pub reason: Reason,
}

impl DelegationTable {
    /// The table of these delegations; where a subnet is named twice the later entry counts.
    pub fn of(
        hierarchy: &Hierarchy,
        delegations: impl IntoIterator<Item = (SubnetId, Delegation)>,
    ) -> Self {
        let mut table = Self::default();
        for (subnet, delegation) in delegations {
            table.insert(hierarchy, subnet, delegation);
        }
        table
    }

    /// Delegates `subnet`; returns the delegation before.
    pub fn insert(
        &mut self,
        hierarchy: &Hierarchy,
        subnet: SubnetId,
        delegation: Delegation,
    ) -> Option<Delegation> {
        let before = self.remove(hierarchy, subnet);
        self.delegations.insert(subnet, delegation);
        self.by_agent.entry(delegation.agent).or_default().insert(subnet);
        if let Some(company) = hierarchy.subnet(subnet).company() {
            self.of_companies.insert((company, subnet));
        }
        self.count_in_all(hierarchy, subnet, |counts| counts.add(delegation.agent));
        before
    }

    /// Ends the delegation of `subnet`; returns it.
    pub fn remove(&mut self, hierarchy: &Hierarchy, subnet: SubnetId) -> Option<Delegation> {
        let before = self.delegations.remove(&subnet)?;
        if let Some(subnets) = self.by_agent.get_mut(&before.agent) {
            subnets.remove(&subnet);
        }
        if let Some(company) = hierarchy.subnet(subnet).company() {
            self.of_companies.remove(&(company, subnet));
        }
        self.count_in_all(hierarchy, subnet, |counts| counts.remove(before.agent));
        Some(before)
    }

    /// The agent of exactly this subnet.
    pub fn agent_of(&self, subnet: SubnetId) -> Option<AgentId> {
        self.get(subnet).map(|delegation| delegation.agent)
    }

    /// The delegation of exactly this subnet.
    pub fn get(&self, subnet: SubnetId) -> Option<Delegation> {
        self.delegations.get(&subnet).copied()
    }

    /// Number of subnets that `agent` has.
    pub fn count(&self, agent: AgentId) -> u32 {
        self.by_agent.get(&agent).map_or(0, |subnets| subnets.len() as u32)
    }

    /// The subnets that `agent` has, in the order of the hierarchy.
    pub fn subnets_of(&self, agent: AgentId) -> impl Iterator<Item = SubnetId> + '_ {
        self.by_agent.get(&agent).into_iter().flatten().copied()
    }

    /// The delegated subnets of `company`, in the order of the hierarchy.
    pub fn subnets_of_company(&self, company: CompanyId) -> impl Iterator<Item = SubnetId> + '_ {
        let first = (company, SubnetId::new(0));
        let last = (company, SubnetId::new(u32::MAX));
        self.of_companies.range(first..=last).map(|(_, subnet)| *subnet)
    }

    /// The delegations of these subnets, whose ids lie between two, in the order of the hierarchy.
    pub fn between(
        &self,
        subnets: Range<SubnetId>,
    ) -> impl Iterator<Item = (SubnetId, Delegation)> + '_ {
        self.delegations.range(subnets).map(|(subnet, delegation)| (*subnet, *delegation))
    }

    /// All agents that have a subnet, the lowest id first.
    pub fn agents(&self) -> Vec<AgentId> {
        let holders = self.by_agent.iter().filter(|(_, subnets)| !subnets.is_empty());
        holders.map(|(agent, _)| *agent).collect()
    }

    /// The delegations that a scope covers, in the order of the hierarchy. Takes time in proportion
    /// to the table for a company or country.
    pub fn covered_by<'a>(
        &'a self,
        hierarchy: &'a Hierarchy,
        scope: &'a Scope,
    ) -> impl Iterator<Item = (SubnetId, Delegation)> + 'a {
        let candidates = match scope {
            Scope::Range(range) => hierarchy.beginning_in(range),
            Scope::Company { .. } | Scope::Country(_) => SubnetId::new(0)..SubnetId::new(u32::MAX),
        };
        self.between(candidates).filter(|(subnet, _)| scope.covers(hierarchy, *subnet))
    }

    /// Agents with a subnet of `company`, in the order of asking.
    pub fn agents_of_company(&self, company: CompanyId) -> impl Iterator<Item = AgentId> + '_ {
        self.by_company.get(&company).into_iter().flat_map(AgentCounts::agents)
    }

    /// Agents with a child of `subnet`, in the order of asking.
    pub fn agents_of_children(&self, subnet: SubnetId) -> impl Iterator<Item = AgentId> + '_ {
        self.by_parent.get(&subnet).into_iter().flat_map(AgentCounts::agents)
    }

    /// Agents with a subnet anywhere below `subnet`, in the order of asking.
    pub fn agents_inside(&self, subnet: SubnetId) -> impl Iterator<Item = AgentId> + '_ {
        self.by_ancestor.get(&subnet).into_iter().flat_map(AgentCounts::agents)
    }

    /// All delegations, in the order of the hierarchy.
    pub fn iter(&self) -> impl Iterator<Item = (SubnetId, Delegation)> + '_ {
        self.delegations.iter().map(|(subnet, delegation)| (*subnet, *delegation))
    }

    /// Number of delegated subnets.
    pub fn len(&self) -> usize {
        self.delegations.len()
    }

    /// Whether nothing is delegated.
    pub fn is_empty(&self) -> bool {
        self.delegations.is_empty()
    }

    /// Applies `change` to all counts that `subnet` is part of.
    fn count_in_all(
        &mut self,
        hierarchy: &Hierarchy,
        subnet: SubnetId,
        change: impl Fn(&mut AgentCounts),
    ) {
        if let Some(company) = hierarchy.subnet(subnet).company() {
            update(&mut self.by_company, company, &change);
        }
        if let Some(parent) = hierarchy.parent(subnet) {
            update(&mut self.by_parent, parent, &change);
        }
        for ancestor in hierarchy.ancestors(subnet) {
            update(&mut self.by_ancestor, ancestor, &change);
        }
    }
}

/// Applies `change` to the counts at `key`. Empty counts are not stored. Otherwise the maps would
/// grow with every subnet that ever had an agent.
fn update<Key: std::hash::Hash + Eq + Copy>(
    all: &mut HashMap<Key, AgentCounts>,
    key: Key,
    change: impl Fn(&mut AgentCounts),
) {
    let counts = all.entry(key).or_default();
    change(counts);
    if counts.is_empty() {
        all.remove(&key);
    }
}
