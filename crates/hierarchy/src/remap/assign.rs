//! Assignment: gives each subnet of the new generation to one claim.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::Remapping;
use super::successors::Candidate;
use crate::range::Range;

/// Gives each successor to the claim of exactly that range, else to the smallest rank, else to the
/// widest range, else to the smaller key. The result does not depend on the order of the
/// candidates, and keeps it.
pub(super) fn assign<Key: Copy + Ord>(candidates: Vec<Candidate<Key>>) -> Vec<Remapping<Key>> {
    let mut best: HashMap<Range, &Candidate<Key>> = HashMap::new();
    for candidate in &candidates {
        for range in &candidate.successors {
            let winner = best.entry(*range).or_insert(candidate);
            if priority(candidate, range) < priority(winner, range) {
                *winner = candidate;
            }
        }
    }
    let owners: HashMap<Range, Key> =
        best.iter().map(|(range, winner)| (*range, winner.claim.key)).collect();
    candidates.into_iter().map(|candidate| remapping(candidate, &owners)).collect()
}

/// Sort key of a candidate for one successor; the smallest gets it.
fn priority<Key: Copy + Ord>(
    candidate: &Candidate<Key>,
    range: &Range,
) -> (bool, u64, Reverse<u128>, Key) {
    let claim = &candidate.claim;
    (claim.range != *range, claim.rank, Reverse(claim.range.addresses()), claim.key)
}

fn remapping<Key: Copy + Ord>(
    candidate: Candidate<Key>,
    owners: &HashMap<Range, Key>,
) -> Remapping<Key> {
    let Candidate { claim, change, successors } = candidate;
    let mut remapping = Remapping { claim, change, assigned: vec![], ceded: vec![] };
    for range in successors {
        match owners.get(&range) {
            Some(owner) if *owner != claim.key => remapping.ceded.push((range, *owner)),
            _ => remapping.assigned.push(range),
        }
    }
    remapping
}
