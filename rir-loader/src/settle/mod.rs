//! Settles contradictions between the sources and builds the hierarchy.
//!
//! Several sources describe the same addresses, and not all of it is true or useful. Each rule is a
//! pure function in a module of its own and is counted in the [`SettleReport`]:
//!
//! 1. [`placeholder`]: objects that only say "this space is not ours" or "this is everything" are
//!    dropped.
//! 2. [`holder`]: the holder of a range, by the chain organisation, owner, first line of the
//!    description, net name, maintainer. [`names`] makes one company of "Example Ltd." and
//!    "EXAMPLE  LTD", [`companies`] numbers them.
//! 3. Umbrella ids: an opaque id with more than [`MAX_RANGES`] ranges is shared by unrelated
//!    holders, so a name in a WHOIS object counts more.
//! 4. [`maintained`]: an object of a registry counts only where that registry's delegated file says
//!    it maintains the space.
//! 5. [`duplicates`]: of several claims to exactly the same range one is kept: duplicates within a
//!    registry, transfers between two.
//! 6. [`inherit`]: a range without a holder belongs to the holder of the smallest range around it;
//!    a missing country is the company's.
//! 7. [`split_leaves`]: large ranges in which nothing is recorded are split into virtual subnets,
//!    where the policy says so.
//!
//! Ranges that cross are cut by the hierarchy's builder, which counts them, too.
//!
//! Delegated files are flat: hardly any range lies in another. The paper's search climbs from a
//! subnet to what is around it, so the ranges are grouped into blocks (see
//! [`hierarchy::BlockLevel`]):
//!
//! - *registry blocks* right below the roots: /8 for IPv4 and /12 for IPv6, which is how IANA gives
//!   space to registries (RFC 7020; IANA's IPv4 and IPv6 address space registries). IPv6 space
//!   given out before 2006 came in /23, all of them in one /12 that five registries share, so /23
//!   blocks follow where they hold at least two ranges;
//! - *neighbourhoods* that hold at least two ranges: /16 for IPv4; /32 for IPv6, where registries
//!   keep the /48s that they assign to end users.
//!
//! A block that holds ranges of one registry only is marked with it.

mod claim;
mod companies;
mod duplicates;
mod family;
mod holder;
mod inherit;
mod maintained;
mod names;
mod placeholder;
mod report;
mod settler;
mod split_leaves;

use hierarchy::BlockLevel;

pub use holder::CompanyKey;
pub(crate) use holder::readable;
pub(crate) use names::normalize;
pub use report::{SettleReport, Umbrella};
pub(crate) use settler::{Origins, Settler};
pub use split_leaves::SplitPolicy;

/// Blocks of IPv4, outermost first.
pub const V4_BLOCKS: [BlockLevel; 2] =
    [BlockLevel { prefix: 8, min_records: 1 }, BlockLevel { prefix: 16, min_records: 2 }];

/// Blocks of IPv6, outermost first.
pub const V6_BLOCKS: [BlockLevel; 3] = [
    BlockLevel { prefix: 12, min_records: 1 },
    BlockLevel { prefix: 23, min_records: 2 },
    BlockLevel { prefix: 32, min_records: 2 },
];

/// Delegated ranges above which an opaque id does not identify a single company.
///
/// Registries keep national registries, and space given out before there were registries, under one
/// opaque id: in October 2018 APNIC's A9113FEF had 1,752 Australian ranges of the year 1993,
/// A92E1062 had 1,109 of CNNIC's customers. The largest real organisations of the time had 1,203
/// (US DoD), 540 and 420 ranges, spread over the world.
pub const MAX_RANGES: u32 = 500;
