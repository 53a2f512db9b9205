//! Records of the registries to the records of a hierarchy.
//!
//! What the delegated files say is flat: hardly any range lies in another. The paper's search climbs from a subnet to what
//! is around it, so that the ranges are put under blocks (see [`hierarchy::BlockLevel`]):
//!
//! - *registry blocks* right below the roots: /8 for IPv4 and /12 for IPv6, which is how IANA hands space to registries
//!   (RFC 7020; IANA's IPv4 and IPv6 address space registries). IPv6 space given out before 2006 came in /23, all of them in
//!   one /12 that five registries share, so that /23 blocks follow where they hold at least two ranges;
//! - *neighbourhoods* that hold at least two ranges: /16 for IPv4; /32 for IPv6, where registries keep the /48s that they
//!   assign to end users.
//!
//! A block that holds ranges of one registry only is marked with it.

use hierarchy::{BlockLevel, BuildReport, Builder, CompanyIndex, Generation, Hierarchy, Record, SubnetKind};

use crate::delegated::Row;

/// Blocks of IPv4, outermost first.
pub const V4_BLOCKS: [BlockLevel; 2] =
    [BlockLevel { prefix: 8, least: 1 }, BlockLevel { prefix: 16, least: 2 }];

/// Blocks of IPv6, outermost first.
pub const V6_BLOCKS: [BlockLevel; 3] = [
    BlockLevel { prefix: 12, least: 1 },
    BlockLevel { prefix: 23, least: 2 },
    BlockLevel { prefix: 32, least: 2 },
];

/// Collects what somebody holds.
#[derive(Debug, Default)]
pub struct Settler {
    builder: Builder,
    companies: CompanyIndex,
}

impl Settler {
    /// Takes a record in; free and reserved ranges and AS numbers are passed over.
    pub fn take(&mut self, row: &Row<'_>) {
        let Some(range) = row.range.filter(|_| row.is_held()) else { return };
        let company = row.opaque_id.map(|id| self.companies.number(row.registry, id));
        let (kind, registry) = (SubnetKind::Delegated, Some(row.registry));
        self.builder.add(Record { range, kind, registry, company, country: row.country });
    }

    /// How many ranges were taken in.
    pub fn ranges(&self) -> u64 {
        self.builder.len() as u64
    }

    /// Groups and nests what was taken in.
    pub fn nest(mut self, generation: Generation) -> (Hierarchy, BuildReport) {
        self.builder.group(&V4_BLOCKS, &V6_BLOCKS);
        self.builder.build(generation, self.companies.into_companies())
    }
}
