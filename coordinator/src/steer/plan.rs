//! What follows from pins and exclusions.

use std::collections::{BTreeMap, HashMap};

use delegation::Steering;
use delegation::steering::{Due, due};
use hierarchy::{Range, SubnetId};
use protocol::PinId;
use store::StoreError;
use store::delegations;

use crate::atlas::Atlas;
use crate::state::Coordinator;

/// What is to be done, by subnet.
pub type Plan = BTreeMap<SubnetId, Due>;

/// The state that a plan starts from.
pub struct Ground {
    marked: HashMap<SubnetId, PinId>,
    wanted: Vec<SubnetId>,
}

impl Ground {
    /// As the store has it.
    pub async fn see(coordinator: &Coordinator, atlas: &Atlas) -> Result<Self, StoreError> {
        let hierarchy = atlas.hierarchy();
        let marked = delegations::pinned(&coordinator.store).await?;
        let marked =
            marked.into_iter().filter_map(|(subnet, pin)| Some((hierarchy.find(&subnet)?, pin)));
        let wanted = delegations::wanting(&coordinator.store).await?;
        let wanted = wanted.iter().filter_map(|subnet: &Range| hierarchy.find(subnet));
        Ok(Self { marked: marked.collect(), wanted: wanted.collect() })
    }

    /// What is to be done so that the book is as `steering` wants it.
    pub fn plan(&self, atlas: &Atlas, steering: &Steering) -> Plan {
        if steering.is_empty() && self.marked.is_empty() {
            return Plan::new();
        }
        let wanted = self.wanted.iter().copied();
        due(atlas.hierarchy(), steering, &atlas.book(), &self.marked, wanted)
    }

    /// What is to be done with `after` that was not to be done with `before`.
    pub fn difference(&self, atlas: &Atlas, before: &Steering, after: &Steering) -> Plan {
        let before = self.plan(atlas, before);
        let mut plan = self.plan(atlas, after);
        plan.retain(|subnet, due| before.get(subnet) != Some(due));
        plan
    }
}
