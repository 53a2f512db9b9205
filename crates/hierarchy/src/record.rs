//! Record: the input of a hierarchy, one range with its attributes.

use serde::Serialize;

use crate::country::Country;
use crate::id::CompanyId;
use crate::range::Range;
use crate::registry::Registry;

/// Origin of a subnet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum SubnetKind {
    /// All addresses of one family.
    Root,
    /// A group of neighbours, without a holder.
    Block,
    /// A range that a registry has assigned to a company.
    Delegated,
    /// A range that this program made: a part of a delegated subnet, with the same holder, or a
    /// piece of address space that no registry has assigned, without one.
    Virtual,
}

impl SubnetKind {
    pub const ALL: [Self; 4] = [Self::Root, Self::Block, Self::Delegated, Self::Virtual];

    /// Whether a subnet of this kind may be given to an agent. Roots and blocks unite addresses of
    /// many holders in many places, so that no agent is near to all of them.
    pub fn may_be_delegated(self) -> bool {
        matches!(self, Self::Delegated | Self::Virtual)
    }

    /// The lower-case word for the database and reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Root => "root",
            Self::Block => "block",
            Self::Delegated => "delegated",
            Self::Virtual => "virtual",
        }
    }
}

/// One range for a [`crate::Builder`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record {
    /// The addresses of the subnet.
    pub range: Range,
    /// Origin of the range.
    pub kind: SubnetKind,
    /// The registry that maintains the range; `None` where several registries or none do.
    pub registry: Option<Registry>,
    /// The holder, as numbered by the companies that are given to the builder.
    pub company: Option<CompanyId>,
    /// The country in which the holder uses the range, as the holder states it.
    pub country: Option<Country>,
}
