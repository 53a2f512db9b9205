//! What the registries say to the records of a hierarchy.
//!
//! Several sources speak of the same addresses, and not all they say is true or useful. Each rule
//! that settles it is a pure function in a room of its own, and counts in the [`SettleReport`] what
//! it did:
//!
//! 1. [`placeholder`]: objects that only say "this space is not ours" or "this is everything" are
//!    dropped.
//! 2. [`holder`]: who holds a range, by the chain organisation, owner, first line of the
//!    description, net name, maintainer; [`normal`] makes one company of "Example Ltd." and
//!    "EXAMPLE  LTD", [`companies`] numbers them.
//! 3. [`umbrella`]: a holder of very many delegated ranges is a pool of strangers; what else is
//!    known of a range counts more.
//! 4. [`maintained`]: an object of a registry counts only where that registry's delegated file says
//!    it maintains the space.
//! 5. [`equal`]: of several claims to exactly the same range one is kept: duplicates within a
//!    registry, transfers between two.
//! 6. [`inherit`]: a range that nobody is named for belongs to whoever holds the smallest range
//!    around it; a country that is not said is the company's.
//! 7. [`leaves`]: large ranges in which nothing is recorded are cut into virtual subnets, where the
//!    policy says so.
//!
//! Ranges that cross are cut by the hierarchy's builder, which counts them, too.
//!
//! What the delegated files say is flat: hardly any range lies in another. The paper's search
//! climbs from a subnet to what is around it, so that the ranges are put under blocks (see
//! [`hierarchy::BlockLevel`]):
//!
//! - *registry blocks* right below the roots: /8 for IPv4 and /12 for IPv6, which is how IANA hands
//!   space to registries (RFC 7020; IANA's IPv4 and IPv6 address space registries). IPv6 space
//!   given out before 2006 came in /23, all of them in one /12 that five registries share, so that
//!   /23 blocks follow where they hold at least two ranges;
//! - *neighbourhoods* that hold at least two ranges: /16 for IPv4; /32 for IPv6, where registries
//!   keep the /48s that they assign to end users.
//!
//! A block that holds ranges of one registry only is marked with it.

mod claim;
pub mod companies;
pub mod equal;
mod family;
pub mod holder;
pub mod inherit;
pub mod leaves;
pub mod maintained;
pub mod normal;
pub mod placeholder;
mod report;
mod settler;
pub mod umbrella;

use hierarchy::BlockLevel;

pub use claim::{Bits, Claim};
pub use leaves::CutLeaves;
pub use report::{Holders, SettleReport, Umbrella};
pub use settler::{Origins, Policy, Settled, Settler};

/// Blocks of IPv4, outermost first.
pub const V4_BLOCKS: [BlockLevel; 2] =
    [BlockLevel { prefix: 8, least: 1 }, BlockLevel { prefix: 16, least: 2 }];

/// Blocks of IPv6, outermost first.
pub const V6_BLOCKS: [BlockLevel; 3] = [
    BlockLevel { prefix: 12, least: 1 },
    BlockLevel { prefix: 23, least: 2 },
    BlockLevel { prefix: 32, least: 2 },
];
