//! One subnet, looked at through its hierarchy.

use std::fmt;

use crate::country::Country;
use crate::id::{CompanyId, SubnetId};
use crate::range::Range;
use crate::record::SubnetKind;
use crate::registry::Registry;
use crate::tree::Hierarchy;

/// A view of one subnet; every property is read when it is asked for.
#[derive(Clone, Copy)]
pub struct Subnet<'h> {
    hierarchy: &'h Hierarchy,
    id: SubnetId,
}

impl<'h> Subnet<'h> {
    /// The caller has checked that the hierarchy has this id.
    pub(crate) fn new(hierarchy: &'h Hierarchy, id: SubnetId) -> Self {
        Self { hierarchy, id }
    }

    /// Its place in the generation.
    pub fn id(&self) -> SubnetId {
        self.id
    }

    /// Its addresses.
    pub fn range(&self) -> Range {
        self.hierarchy.range(self.id).unwrap_or(Range::V4)
    }

    /// What it stands for.
    pub fn kind(&self) -> SubnetKind {
        self.hierarchy.columns().attributes[self.id.index()].kind()
    }

    /// Whether it is a virtual subnet: a part that was cut out of a range somebody holds. Other
    /// blocks group what several hold.
    pub fn is_virtual(&self) -> bool {
        self.kind() == SubnetKind::Block && self.company().is_some()
    }

    /// The word for what it stands for: that of its kind, or `virtual`.
    pub fn kind_word(&self) -> &'static str {
        if self.is_virtual() { "virtual" } else { self.kind().as_str() }
    }

    /// The smallest subnet around it; `None` for a root.
    pub fn parent(&self) -> Option<SubnetId> {
        self.hierarchy.parent(self.id)
    }

    /// How many subnets are around it: 0 for a root.
    pub fn depth(&self) -> usize {
        self.hierarchy.ancestors(self.id).count()
    }

    /// Who maintains it; `None` for a root and for a block whose subnets belong to several
    /// registries.
    pub fn registry(&self) -> Option<Registry> {
        self.hierarchy.columns().attributes[self.id.index()].registry()
    }

    /// Who holds it.
    pub fn company(&self) -> Option<CompanyId> {
        self.hierarchy.columns().holder[self.id.index()].company()
    }

    /// Where its holder says it is used.
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
