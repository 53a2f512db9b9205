//! Constraints on ranges, such as pins: each applies to every subnet inside its range, however many
//! these are.

use super::assign::assign;
use super::successors::{Candidate, successors};
use super::{Claim, RangeChange, Remapping};
use crate::range::Range;
use crate::tree::Hierarchy;

/// Moves constraints of one kind to the new generation.
///
/// Unlike a delegation a constraint stays where its range was split, because the parts lie in the
/// range. It also stays where its range held no subnet before, where `old` is not known, and where
/// only blocks and roots hold its range now: there it would apply to the subnets of many holders.
pub(super) fn remap_constraints<Key: Copy + Ord>(
    old: Option<&Hierarchy>,
    new: &Hierarchy,
    claims: impl IntoIterator<Item = Claim<Key>>,
) -> Vec<Remapping<Key>> {
    assign(claims.into_iter().map(|claim| candidate(old, new, claim)).collect())
}

fn candidate<Key>(old: Option<&Hierarchy>, new: &Hierarchy, claim: Claim<Key>) -> Candidate<Key> {
    let range = claim.range;
    let was_empty = old.is_none_or(|old| !has_subnets(old, &range));
    if was_empty {
        return Candidate { claim, change: RangeChange::Same, successors: vec![range] };
    }
    let (change, successors) = successors(old, new, &range);
    if !successors.iter().any(|range| new.find_delegable(range).is_some()) {
        return Candidate { claim, change: RangeChange::Same, successors: vec![range] };
    }
    let was_subnet = old.is_some_and(|old| old.find(&range).is_some());
    // A range that an admin chose freely and that still holds subnets did not change: what would
    // look like a split is the state that the admin meant.
    let change = if was_subnet || !has_subnets(new, &range) { change } else { RangeChange::Same };
    let stays = change.stays() || change == RangeChange::Split;
    Candidate { claim, change, successors: if stays { vec![range] } else { successors } }
}

fn has_subnets(hierarchy: &Hierarchy, range: &Range) -> bool {
    hierarchy.find(range).is_some() || hierarchy.inside(range).next().is_some()
}
