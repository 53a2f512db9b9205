//! Restricts each registry's WHOIS objects to the space that the registry maintains.
//!
//! Space moves between registries, and the one that lost it often keeps its old objects. The RIPE
//! NCC's own importer (`GrsSourceImporter.isMaintainedInRirSpace`) therefore accepts an object of a
//! registry only inside the space that the registry's delegated file lists. The file lists free and
//! reserved ranges, too: those are maintained as well.
//!
//! The space is a sorted list of ranges, not a set of prefixes (`iprange`): it consists mostly of
//! ranges that are not prefixes, and each of them would become up to 60 prefixes.

use hierarchy::Address;

/// The space of one registry in one family: ranges that neither overlap nor touch, sorted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Space<A>(Vec<(A, A)>);

impl<A: Address> Space<A> {
    /// The union of ranges.
    pub(super) fn of(mut ranges: Vec<(A, A)>) -> Self {
        ranges.sort_unstable();
        let mut space: Vec<(A, A)> = vec![];
        for (first, last) in ranges {
            match space.last_mut() {
                // Ranges that touch are joined, so that an object across both lies in one.
                Some((_, end)) if end.next().is_none_or(|after| first <= after) => {
                    *end = (*end).max(last);
                }
                _ => space.push((first, last)),
            }
        }
        Self(space)
    }

    /// The parts of a range that lie in the space, in order.
    pub(super) fn intersect(&self, first: A, last: A) -> impl Iterator<Item = (A, A)> + '_ {
        let begin = self.0.partition_point(|(_, end)| *end < first);
        let overlapping = self.0[begin..].iter().take_while(move |(start, _)| *start <= last);
        overlapping.map(move |(start, end)| ((*start).max(first), (*end).min(last)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_range_counts_where_its_registry_maintains_the_space() {
        let space = Space::of(vec![(30, 39), (10, 14), (15, 19), (50, 50)]);
        let kept = |first, last| space.intersect(first, last).collect::<Vec<(u32, u32)>>();
        assert_eq!(kept(10, 19), [(10, 19)]);
        assert_eq!(kept(12, 16), [(12, 16)]);
        assert_eq!(kept(20, 29), []);
        assert_eq!(kept(15, 35), [(15, 19), (30, 35)]);
        assert_eq!(kept(0, u32::MAX), [(10, 19), (30, 39), (50, 50)]);
    }

    proptest! {
        #[test]
        fn an_address_is_kept_if_and_only_if_it_is_maintained(
            ranges in prop::collection::vec((0_u32..60, 0_u32..8), 0..12),
            first in 0_u32..60,
            length in 0_u32..30,
        ) {
            let with_end = |(first, more)| (first, first + more);
            let ranges: Vec<_> = ranges.into_iter().map(with_end).collect();
            let space = Space::of(ranges.clone());
            let parts: Vec<_> = space.intersect(first, first + length).collect();
            for address in first..=first + length {
                let listed = ranges.iter().any(|(a, b)| (*a..=*b).contains(&address));
                let kept = parts.iter().filter(|(a, b)| (*a..=*b).contains(&address)).count();
                prop_assert_eq!(kept, usize::from(listed));
            }
        }
    }
}
