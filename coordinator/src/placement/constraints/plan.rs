//! Constraint plan: the corrections that pins and exclusions require.

use std::collections::{BTreeMap, HashMap};

use delegation::Constraints;
use delegation::constraints::{Correction, Pin, corrections};
use hierarchy::SubnetId;
use model::PinId;
use store::StoreError;
use store::delegations;

use crate::placement::Placement;
use crate::runtime::delegated_hierarchy::DelegatedHierarchy;

pub type ConstraintPlan = BTreeMap<SubnetId, Correction>;

/// What the store knows about pins beyond the delegation table.
pub struct PinState {
    /// Subnets whose delegation was made by a pin.
    pinned: HashMap<SubnetId, PinId>,
    /// Subnets without an agent for which hosts wait.
    wanted: Vec<SubnetId>,
}

impl PinState {
    /// Reads the subnets that this generation of the hierarchy has. Those that hosts wait in are
    /// read only where one of these pins may assign them: many hosts may wait elsewhere.
    pub async fn read(
        placement: &Placement,
        delegated: &DelegatedHierarchy,
        pins: &[&Pin],
    ) -> Result<Self, StoreError> {
        let hierarchy = delegated.hierarchy();
        let pinned = delegations::pinned(&placement.store).await?;
        let pinned =
            pinned.into_iter().filter_map(|(subnet, pin)| Some((hierarchy.find(&subnet)?, pin)));
        let ranges = placement.pinned_ranges.of(hierarchy, pins);
        let wanted = if ranges.is_empty() {
            Vec::new()
        } else {
            delegations::undelegated_subnets(&placement.store, &ranges).await?
        };
        let wanted = wanted.iter().filter_map(|subnet| hierarchy.find(subnet));
        Ok(Self { pinned: pinned.collect(), wanted: wanted.collect() })
    }

    /// The corrections after which the delegation table obeys `constraints`.
    pub fn plan(
        &self,
        delegated: &DelegatedHierarchy,
        constraints: &Constraints,
    ) -> ConstraintPlan {
        // The usual case, in which going through all delegations would find nothing. A pin that was
        // removed still leaves its delegations to correct.
        if constraints.is_empty() && self.pinned.is_empty() {
            return ConstraintPlan::new();
        }
        let table = delegated.delegation_table();
        let wanted = self.wanted.iter().copied();
        corrections(delegated.hierarchy(), constraints, &table, &self.pinned, wanted)
    }

    /// The corrections that `after` requires and `before` does not: what a request changes, without
    /// corrections that are due anyway.
    pub fn plan_change(
        &self,
        delegated: &DelegatedHierarchy,
        before: &Constraints,
        after: &Constraints,
    ) -> ConstraintPlan {
        let before = self.plan(delegated, before);
        let mut plan = self.plan(delegated, after);
        plan.retain(|subnet, correction| before.get(subnet) != Some(correction));
        plan
    }
}
