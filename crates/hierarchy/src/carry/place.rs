//! Each claim by itself: what became of its range?

use super::{Claim, Fate, Placed};
use crate::company::Company;
use crate::id::SubnetId;
use crate::range::Range;
use crate::record::SubnetKind;
use crate::registry::Registry;
use crate::tree::Hierarchy;

/// Finds the places of each claim in `new`. Without the `old` generation a transfer cannot be told
/// from staying, and what was around a vanished range counts as merged with it when somebody holds
/// it.
pub fn place<Key: Copy>(
    old: Option<&Hierarchy>,
    new: &Hierarchy,
    claims: impl IntoIterator<Item = Claim<Key>>,
) -> Vec<Placed<Key>> {
    let place = |claim: Claim<Key>| {
        let (fate, places) = place_of(old, new, &claim.range);
        Placed { claim, fate, places }
    };
    claims.into_iter().map(place).collect()
}

pub(super) fn place_of(
    old: Option<&Hierarchy>,
    new: &Hierarchy,
    range: &Range,
) -> (Fate, Vec<Range>) {
    let before = old.and_then(|old| Some((old, old.find(range)?)));
    if let Some(there) = new.find(range).filter(|there| !fell_apart(before, new, *there)) {
        let held = |old, id| is_held(old, id) || is_held(new, there);
        let moved =
            before.is_some_and(|(old, id)| held(old, id) && holder(old, id) != holder(new, there));
        return (if moved { Fate::Transferred } else { Fate::Same }, vec![*range]);
    }
    // What lies in a block is not its parts: it only grouped what others hold.
    let was_block = before.is_some_and(|(old, id)| !is_held(old, id));
    let parts: Vec<Range> = new.inside(range).map(|id| new.subnet(id).range()).collect();
    if !parts.is_empty() && !was_block {
        return (Fate::Split, parts);
    }
    let around = new.subnet(new.smallest_holding(range));
    let was_held =
        old.is_some_and(|old| old.find(&around.range()).is_some_and(|id| is_held(old, id)));
    let merged = is_held(new, around.id()) && !was_held;
    (if merged { Fate::Merged } else { Fate::Vanished }, vec![around.range()])
}

/// Whether somebody held the range and now it only groups what others hold.
fn fell_apart(before: Option<(&Hierarchy, SubnetId)>, new: &Hierarchy, there: SubnetId) -> bool {
    before.is_some_and(|(old, id)| is_held(old, id)) && !is_held(new, there)
}

fn is_held(hierarchy: &Hierarchy, id: SubnetId) -> bool {
    hierarchy.subnet(id).kind() == SubnetKind::Delegated
}

/// Who has a subnet, in words that mean the same in every generation.
fn holder(hierarchy: &Hierarchy, id: SubnetId) -> (Option<Registry>, Option<(Registry, &str)>) {
    let subnet = hierarchy.subnet(id);
    let company = subnet.company().and_then(|id| hierarchy.company(id));
    (subnet.registry(), company.map(|Company { registry, handle, .. }| (registry, handle)))
}
