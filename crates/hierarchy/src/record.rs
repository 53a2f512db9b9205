//! Record: the input of a hierarchy, one range with its attributes.

use crate::country::Country;
use crate::id::CompanyId;
use crate::range::Range;
use crate::registry::Registry;

/// Origin of a subnet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SubnetKind {
    /// All addresses of one family.
    Root,
    /// A range that no registry assigned: a group of neighbours without a holder, or a virtual
    /// subnet, which has the holder of the subnet that it is part of.
    Block,
    /// A range that a registry has assigned to a company.
    Delegated,
}

impl SubnetKind {
    /// All kinds, outermost first.
    pub const ALL: [Self; 3] = [Self::Root, Self::Block, Self::Delegated];

    /// The lower-case word for the database and reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Root => "root",
            Self::Block => "block",
            Self::Delegated => "delegated",
        }
    }
}

/// One range for a [`crate::Builder`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record {
    /// The addresses of the subnet.
    pub range: Range,
    /// Whether a registry assigned the range.
    pub kind: SubnetKind,
    /// The registry that maintains the range; `None` where several registries or none do.
    pub registry: Option<Registry>,
    /// The holder, as numbered by the companies that are given to the builder.
    pub company: Option<CompanyId>,
    /// The country in which the holder uses the range, as the holder states it.
    pub country: Option<Country>,
}
