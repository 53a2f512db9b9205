//! Subnet: a view of one node of the hierarchy.

use std::fmt;

use super::Hierarchy;
use crate::country::Country;
use crate::id::{CompanyId, SubnetId};
use crate::range::Range;
use crate::record::SubnetKind;
use crate::registry::Registry;

/// One subnet of a hierarchy. Properties are read from the columns at each call.
#[derive(Clone, Copy)]
pub struct Subnet<'h> {
    hierarchy: &'h Hierarchy,
    id: SubnetId,
}

impl<'h> Subnet<'h> {
    /// The hierarchy must have this id.
    pub(crate) fn new(hierarchy: &'h Hierarchy, id: SubnetId) -> Self {
        Self { hierarchy, id }
    }

    /// The place of the subnet in its generation.
    pub fn id(&self) -> SubnetId {
        self.id
    }

    /// The addresses of the subnet.
    pub fn range(&self) -> Range {
        self.hierarchy.range(self.id).unwrap_or(Range::V4)
    }

    /// Origin of the subnet.
    pub fn kind(&self) -> SubnetKind {
        self.hierarchy.columns().attributes[self.id.index()].kind()
    }

    /// Whether it may be given to an agent; see [`SubnetKind::may_be_delegated`].
    pub fn may_be_delegated(&self) -> bool {
        self.kind().may_be_delegated()
    }

    /// The smallest subnet around it; `None` for a root.
    pub fn parent(&self) -> Option<SubnetId> {
        self.hierarchy.parent(self.id)
    }

    /// The number of subnets around it: 0 for a root.
    pub fn depth(&self) -> usize {
        self.hierarchy.ancestors(self.id).count()
    }

    /// The registry that maintains the range; `None` for a root and for a block whose records
    /// belong to several registries.
    pub fn registry(&self) -> Option<Registry> {
        self.hierarchy.columns().attributes[self.id.index()].registry()
    }

    /// The holder of the range.
    pub fn company(&self) -> Option<CompanyId> {
        self.hierarchy.columns().holder[self.id.index()].company()
    }

    /// The country in which the holder uses the range, as the holder states it.
    pub fn country(&self) -> Option<Country> {
        self.hierarchy.columns().attributes[self.id.index()].country()
    }
}

impl fmt::Debug for Subnet<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subnet")
            .field("id", &self.id.get())
            .field("range", &self.range().to_string())
            .field("kind", &self.kind())
            .field("registry", &self.registry())
            .field("company", &self.company().map(CompanyId::get))
            .field("country", &self.country())
            .finish()
    }
}
