//! Which space a registry maintains, and what of a claim lies in it.
//!
//! Space moves between registries, and the one that lost it often keeps its old objects. The RIPE
//! NCC's own importer (`GrsSourceImporter.isMaintainedInRirSpace`) therefore believes an object of
//! a registry only inside the space that the registry's delegated file lists. The file lists free
//! and reserved ranges, too: those are maintained as well.

use super::claim::{Bits, Claim};

/// The space of one registry in one family: ranges that neither overlap nor touch, sorted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Space<A>(Vec<(A, A)>);

impl<A: Bits> Space<A> {
    /// The union of ranges.
    pub fn of(mut ranges: Vec<(A, A)>) -> Self {
        ranges.sort_unstable();
        let mut space: Vec<(A, A)> = vec![];
        for (first, last) in ranges {
            match space.last_mut() {
                Some((_, end)) if end.after().is_none_or(|after| first <= after) => {
                    *end = (*end).max(last);
                }
                _ => space.push((first, last)),
            }
        }
        space.shrink_to_fit();
        Self(space)
    }

    /// The parts of a range that lie in the space, in order.
    pub fn within(&self, first: A, last: A) -> impl Iterator<Item = (A, A)> + '_ {
        let begin = self.0.partition_point(|(_, end)| *end < first);
        let reach = self.0[begin..].iter().take_while(move |(start, _)| *start <= last);
        reach.map(move |(start, end)| ((*start).max(first), (*end).min(last)))
    }
}

/// What becomes of a claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kept<A> {
    /// It lies in the space.
    Whole,
    /// These parts do.
    Parts(Vec<(A, A)>),
    /// The registry does not maintain any of it.
    Nothing,
}

/// What of a claim its registry maintains.
pub fn maintained<A: Bits>(claim: &Claim<A>, space: &Space<A>) -> Kept<A> {
    let mut parts = space.within(claim.first, claim.last);
    match parts.next() {
        None => Kept::Nothing,
        Some(part) if part == (claim.first, claim.last) => Kept::Whole,
        Some(part) => Kept::Parts(std::iter::once(part).chain(parts).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::claim::tests::claim;
    use super::super::holder::Basis;
    use super::*;
    use proptest::prelude::*;

    fn kept(first: u32, last: u32) -> Kept<u32> {
        let space = Space::of(vec![(30, 39), (10, 14), (15, 19), (50, 50)]);
        maintained(&claim(first, last, None, Basis::Nobody), &space)
    }

    #[test]
    fn a_claim_counts_where_its_registry_maintains() {
        assert_eq!(kept(10, 19), Kept::Whole);
        assert_eq!(kept(12, 16), Kept::Whole);
        assert_eq!(kept(20, 29), Kept::Nothing);
        assert_eq!(kept(15, 35), Kept::Parts(vec![(15, 19), (30, 35)]));
        assert_eq!(kept(0, u32::MAX), Kept::Parts(vec![(10, 19), (30, 39), (50, 50)]));
    }

    proptest! {
        #[test]
        fn an_address_is_kept_if_and_only_if_it_is_maintained(
            ranges in prop::collection::vec((0_u32..60, 0_u32..8), 0..12), first in 0_u32..60, length in 0_u32..30,
        ) {
            let ranges: Vec<_> = ranges.into_iter().map(|(first, more)| (first, first + more)).collect();
            let space = Space::of(ranges.clone());
            let parts: Vec<_> = space.within(first, first + length).collect();
            for address in first..=first + length {
                let listed = ranges.iter().any(|(a, b)| (*a..=*b).contains(&address));
                let kept = parts.iter().filter(|(a, b)| (*a..=*b).contains(&address)).count();
                prop_assert_eq!(kept, usize::from(listed));
            }
        }
    }
}
