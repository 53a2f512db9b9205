//! Open searches: where does the address lie that a search probes?

use std::collections::HashSet;
use std::net::IpAddr;

use super::place::place_of;
use super::{Carried, Fate};
use crate::range::Range;
use crate::tree::Hierarchy;

/// An open search for somebody who takes a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quest<Key> {
    /// Its name.
    pub key: Key,
    /// The range that wants somebody.
    pub range: Range,
    /// The address in it that is probed.
    pub target: IpAddr,
}

/// What is to be done with a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Followed<Key> {
    /// The search.
    pub quest: Quest<Key>,
    /// What became of its range.
    pub fate: Fate,
    /// The subnet that it is about from now on.
    pub place: Range,
    /// Whether it is over, because somebody has that subnet or another search is about it.
    pub over: bool,
}

impl<Key> Followed<Key> {
    /// Whether it stays where it is.
    pub fn stays(&self) -> bool {
        self.place == self.quest.range
    }
}

/// Puts each search on the smallest subnet that holds its target, unless its range is still there.
/// `carried` says who has which subnet in the new generation. A search that stays goes before one
/// that moves, and of those the earlier one goes first.
pub fn follow<Key: Copy, Owner>(
    old: Option<&Hierarchy>,
    new: &Hierarchy,
    quests: impl IntoIterator<Item = Quest<Key>>,
    carried: &[Carried<Owner>],
) -> Vec<Followed<Key>> {
    let mut followed: Vec<_> = quests.into_iter().map(|quest| moved(old, new, quest)).collect();
    let owned = carried
        .iter()
        .filter(|one| !one.claim.provisional)
        .flat_map(|one| one.gets.iter().copied());
    let stay = followed.iter().filter(|one| one.stays()).map(|one| one.place);
    let mut taken: HashSet<Range> = owned.chain(stay).collect();
    for one in followed.iter_mut().filter(|one| !one.stays()) {
        one.over = !taken.insert(one.place);
    }
    followed
}

fn moved<Key: Copy>(old: Option<&Hierarchy>, new: &Hierarchy, quest: Quest<Key>) -> Followed<Key> {
    let (fate, _) = place_of(old, new, &quest.range);
    let place =
        if fate.stays() { quest.range } else { new.subnet(new.smallest(quest.target)).range() };
    Followed { quest, fate, place, over: false }
}
