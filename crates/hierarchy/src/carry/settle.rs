//! All claims together: one subnet, one claim.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::{Carried, Placed};
use crate::range::Range;

/// Gives each place to one claim: to whose range it is; else to the smallest rank; else to the
/// widest range, and of equals to the smaller key. The answer does not depend on the order of the
/// claims, and keeps it.
pub fn settle<Key: Copy + Ord>(placed: Vec<Placed<Key>>) -> Vec<Carried<Key>> {
    let mut winners: HashMap<Range, &Placed<Key>> = HashMap::new();
    for one in &placed {
        for range in &one.places {
            let winner = winners.entry(*range).or_insert(one);
            if order(one, range) < order(winner, range) {
                *winner = one;
            }
        }
    }
    let owners: HashMap<Range, Key> =
        winners.iter().map(|(range, one)| (*range, one.claim.key)).collect();
    placed.into_iter().map(|one| carried(one, &owners)).collect()
}

fn order<Key: Copy + Ord>(placed: &Placed<Key>, range: &Range) -> (bool, u64, Reverse<u128>, Key) {
    let claim = &placed.claim;
    (claim.range != *range, claim.rank, Reverse(claim.range.addresses()), claim.key)
}

fn carried<Key: Copy + Ord>(placed: Placed<Key>, owners: &HashMap<Range, Key>) -> Carried<Key> {
    let Placed { claim, fate, places } = placed;
    let mut carried = Carried { claim, fate, gets: vec![], yields: vec![] };
    for range in places {
        match owners.get(&range) {
            Some(owner) if *owner != claim.key => carried.yields.push((range, *owner)),
            _ => carried.gets.push(range),
        }
    }
    carried
}
