//! Who holds what.

use std::collections::HashMap;

use hierarchy::{CompanyId, Hierarchy, SubnetId};
use model::{AgentId, Reason};

use crate::AgentCounts;

/// All delegations of one generation of the hierarchy, with the crowds that the search asks for.
///
/// Ids of subnets mean nothing in another generation: a new hierarchy needs a new delegation table. Every
/// method that changes the delegation table takes the hierarchy whose ids it uses. A change costs a few steps
/// per ancestor (about eight) and never depends on how many delegations there are.
#[derive(Debug, Clone, Default)]
pub struct DelegationTable {
    delegations: HashMap<SubnetId, Delegation>,
    company: HashMap<CompanyId, AgentCounts>,
    children: HashMap<SubnetId, AgentCounts>,
    inside: HashMap<SubnetId, AgentCounts>,
}

/// One entry of the delegation table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delegation {
    /// Who crawls the subnet.
    pub agent: AgentId,
    /// Why it does.
    pub reason: Reason,
}

impl DelegationTable {
    /// A delegation table with these delegations; where a subnet is named twice the later entry counts.
    pub fn of(
        hierarchy: &Hierarchy,
        delegations: impl IntoIterator<Item = (SubnetId, Delegation)>,
    ) -> Self {
        let mut delegation_table = Self::default();
        for (subnet, holding) in delegations {
            delegation_table.insert(hierarchy, subnet, holding);
        }
        delegation_table
    }

    /// Delegates `subnet`; returns who held it before.
    pub fn insert(
        &mut self,
        hierarchy: &Hierarchy,
        subnet: SubnetId,
        holding: Delegation,
    ) -> Option<Delegation> {
        let before = self.remove(hierarchy, subnet);
        self.delegations.insert(subnet, holding);
        self.count(hierarchy, subnet, |crowd| crowd.join(holding.agent));
        before
    }

    /// Takes `subnet` from its holder; returns who held it.
    pub fn remove(&mut self, hierarchy: &Hierarchy, subnet: SubnetId) -> Option<Delegation> {
        let before = self.delegations.remove(&subnet)?;
        self.count(hierarchy, subnet, |crowd| crowd.leave(before.agent));
        Some(before)
    }

    /// Who holds exactly this subnet.
    pub fn agent_of(&self, subnet: SubnetId) -> Option<AgentId> {
        self.get(subnet).map(|holding| holding.agent)
    }

    /// Who holds exactly this subnet, and why.
    pub fn get(&self, subnet: SubnetId) -> Option<Delegation> {
        self.delegations.get(&subnet).copied()
    }

    /// Agents that hold a subnet of `company`.
    pub fn agents_of_company(&self, company: CompanyId) -> impl Iterator<Item = AgentId> + '_ {
        self.company.get(&company).into_iter().flat_map(AgentCounts::agents)
    }

    /// Agents that hold a child of `subnet`.
    pub fn agents_of_children(&self, subnet: SubnetId) -> impl Iterator<Item = AgentId> + '_ {
        self.children.get(&subnet).into_iter().flat_map(AgentCounts::agents)
    }

    /// Agents that hold a subnet anywhere below `subnet`.
    pub fn agents_inside(&self, subnet: SubnetId) -> impl Iterator<Item = AgentId> + '_ {
        self.inside.get(&subnet).into_iter().flat_map(AgentCounts::agents)
    }

    /// All delegations, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = (SubnetId, Delegation)> + '_ {
        self.delegations.iter().map(|(subnet, holding)| (*subnet, *holding))
    }

    /// Number of delegated subnets.
    pub fn len(&self) -> usize {
        self.delegations.len()
    }

    /// Whether nothing is delegated.
    pub fn is_empty(&self) -> bool {
        self.delegations.is_empty()
    }

    /// Applies `change` to every crowd that `subnet` counts in.
    fn count(
        &mut self,
        hierarchy: &Hierarchy,
        subnet: SubnetId,
        mut change: impl FnMut(&mut AgentCounts),
    ) {
        if let Some(company) = hierarchy.subnet(subnet).company() {
            update(&mut self.company, company, &mut change);
        }
        if let Some(parent) = hierarchy.parent(subnet) {
            update(&mut self.children, parent, &mut change);
        }
        for ancestor in hierarchy.ancestors(subnet) {
            update(&mut self.inside, ancestor, &mut change);
        }
    }
}

/// Applies `change` to the crowd at `key`, which exists exactly while somebody is in it.
fn update<Key: std::hash::Hash + Eq + Copy>(
    crowds: &mut HashMap<Key, AgentCounts>,
    key: Key,
    change: &mut impl FnMut(&mut AgentCounts),
) {
    let crowd = crowds.entry(key).or_default();
    change(crowd);
    if crowd.is_empty() {
        crowds.remove(&key);
    }
}
