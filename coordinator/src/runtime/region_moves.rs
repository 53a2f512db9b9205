//! Which subnets may move within their regions, as the leader knows it.
//!
//! The background task `form_regions` writes it, searches and placement read it. Other coordinators
//! than the leader have an empty one: the store refuses what a loan forbids.

use arc_swap::ArcSwap;
use hierarchy::Range;
use region::moves::RegionMoves;

/// The rules in force.
pub type CurrentRegionMoves = ArcSwap<RegionMoves>;

/// A subnet as regions name it.
pub fn addresses(subnet: &Range) -> region::delegations::Range {
    region::delegations::Range { first: subnet.first(), last: subnet.last() }
}
