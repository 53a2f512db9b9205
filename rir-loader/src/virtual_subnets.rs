//! Virtual subnets that the database remembers from one generation to the next.

use hierarchy::{Generation, Hierarchy, Range, SubnetSplit};
use store::{Store, StoreError, subnet_splits, unregistered_subnets};

/// Findings of the coordinator about addresses, which stay valid with new files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VirtualSubnets {
    /// Ranges of unregistered space with hosts. Unused ones are left out: after a load of files the
    /// coordinator deletes them.
    unregistered: Vec<Range>,
    /// Parts of subnets that searches found to be in several places.
    splits: Vec<SubnetSplit>,
}

impl VirtualSubnets {
    /// Reads them from the database.
    pub async fn read(store: &Store) -> Result<Self, StoreError> {
        let unregistered = unregistered_subnets::used(store).await?;
        Ok(Self { unregistered, splits: subnet_splits::all(store).await? })
    }

    /// A copy of the hierarchy with all that can be added, `None` where nothing can, and the number
    /// of parts of split subnets that were added.
    pub fn add_to(
        &self,
        hierarchy: &Hierarchy,
        generation: Generation,
    ) -> (Option<Hierarchy>, usize) {
        // Unregistered space comes first, since it may be split as well.
        let completed = hierarchy.with_unregistered(generation, &self.unregistered);
        match completed.as_ref().unwrap_or(hierarchy).split(generation, &self.splits) {
            Some((split, parts)) => (Some(split), parts),
            None => (completed, 0),
        }
    }
}
