//! What follows from pins and exclusions.

use std::collections::{BTreeMap, HashMap};

use delegation::Constraints;
use delegation::constraints::{Correction, corrections};
use hierarchy::{Range, SubnetId};
use model::PinId;
use store::StoreError;
use store::delegations;

use crate::placement::Placement;
use crate::runtime::delegated_hierarchy::DelegatedHierarchy;

/// What is to be done, by subnet.
pub type Plan = BTreeMap<SubnetId, Correction>;

/// The state that a plan starts from.
pub struct Ground {
    marked: HashMap<SubnetId, PinId>,
    wanted: Vec<SubnetId>,
}

impl Ground {
    /// As the store has it.
    pub async fn see(
        placement: &Placement,
        delegated: &DelegatedHierarchy,
    ) -> Result<Self, StoreError> {
        let hierarchy = delegated.hierarchy();
        let marked = delegations::pinned(&placement.store).await?;
        let marked =
            marked.into_iter().filter_map(|(subnet, pin)| Some((hierarchy.find(&subnet)?, pin)));
        let wanted = delegations::wanting(&placement.store).await?;
        let wanted = wanted.iter().filter_map(|subnet: &Range| hierarchy.find(subnet));
        Ok(Self { marked: marked.collect(), wanted: wanted.collect() })
    }

    /// What is to be done so that the delegation table is as `constraints` wants it.
    pub fn plan(&self, delegated: &DelegatedHierarchy, constraints: &Constraints) -> Plan {
        if constraints.is_empty() && self.marked.is_empty() {
            return Plan::new();
        }
        let wanted = self.wanted.iter().copied();
        corrections(
            delegated.hierarchy(),
            constraints,
            &delegated.delegation_table(),
            &self.marked,
            wanted,
        )
    }

    /// What is to be done with `after` that was not to be done with `before`.
    pub fn difference(
        &self,
        delegated: &DelegatedHierarchy,
        before: &Constraints,
        after: &Constraints,
    ) -> Plan {
        let before = self.plan(delegated, before);
        let mut plan = self.plan(delegated, after);
        plan.retain(|subnet, due| before.get(subnet) != Some(due));
        plan
    }
}
