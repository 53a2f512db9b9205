//! What admins said of ranges, such as pins: it counts for every subnet in its range, whatever
//! their number.

use super::place::place_of;
use super::{Carried, Claim, Fate, Placed, settle};
use crate::range::Range;
use crate::tree::Hierarchy;

/// Says where what was said of a range counts from now on. Unlike a delegation it stays where its
/// range was split, since the parts lie in it, and where its range has no subnet now as it had none
/// before, or where the `old` generation is not known.
pub fn steer<Key: Copy + Ord>(
    old: Option<&Hierarchy>,
    new: &Hierarchy,
    claims: impl IntoIterator<Item = Claim<Key>>,
) -> Vec<Carried<Key>> {
    settle(claims.into_iter().map(|claim| placed(old, new, claim)).collect())
}

fn placed<Key>(old: Option<&Hierarchy>, new: &Hierarchy, claim: Claim<Key>) -> Placed<Key> {
    let range = claim.range;
    let was_subnet = old.is_some_and(|old| old.find(&range).is_some());
    let was_empty = old.is_none_or(|old| !has_subnets(old, &range));
    let (fate, places) = place_of(old, new, &range);
    // A range that was no subnet itself has no fate of its own.
    let fate = if was_subnet || !has_subnets(new, &range) { fate } else { Fate::Same };
    if was_empty {
        return Placed { claim, fate: Fate::Same, places: vec![range] };
    }
    let stays = fate.stays() || fate == Fate::Split;
    Placed { claim, fate, places: if stays { vec![range] } else { places } }
}

fn has_subnets(hierarchy: &Hierarchy, range: &Range) -> bool {
    hierarchy.find(range).is_some() || hierarchy.inside(range).next().is_some()
}
