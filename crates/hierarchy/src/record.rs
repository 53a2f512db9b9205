//! What goes into a hierarchy: one range and what is said about it.

use crate::country::Country;
use crate::id::CompanyId;
use crate::range::Range;
use crate::registry::Registry;

/// What a subnet stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SubnetKind {
    /// All addresses of one family.
    Root,
    /// A stretch of address space that groups neighbours; nobody holds it as a whole.
    Block,
    /// A range that a registry has given to a company.
    Delegated,
}

impl SubnetKind {
    /// All kinds, outermost first.
    pub const ALL: [Self; 3] = [Self::Root, Self::Block, Self::Delegated];

    /// The word stored and shown for this kind.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Root => "root",
            Self::Block => "block",
            Self::Delegated => "delegated",
        }
    }
}

/// One range on its way into a [`crate::Builder`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record {
    /// The addresses.
    pub range: Range,
    /// What the range stands for.
    pub kind: SubnetKind,
    /// Who maintains it; `None` where several registries or none do.
    pub registry: Option<Registry>,
    /// Who holds it, as numbered by the builder's companies.
    pub company: Option<CompanyId>,
    /// Where its holder says it is used.
    pub country: Option<Country>,
}
