//! Address lookup: the tree flattened into disjoint segments, with a direct index.
//!
//! A *segment* starts at every address where the smallest subnet changes, and ends where the next
//! one starts. The part of the address space that holds subnets is divided into equal slots, and
//! an index tells which segments start in each slot. A lookup reads one entry of the index and
//! searches the few segments of that slot, which are neighbours in memory.
//!
//! Addresses are compared by their heads only ([`ColumnAddress::Head`]). Where several subnets
//! share a head, its segment has no owner, and the caller searches the columns instead.

use crate::address::ColumnAddress;
use crate::family::Family;

/// Upper limit of slots, about 21 leading bits of the addresses: with ten million subnets a slot
/// has some five segments, and the index of 8 MiB adds less than one byte for each subnet.
const MAX_SLOTS: u64 = 1 << 21;
/// Mean number of segments in a slot below that limit. Fewer would save little time: four segments
/// of IPv4 lie in one or two cache lines.
const SEGMENTS_PER_SLOT: u64 = 4;
/// Owner of a head in which the smallest subnet changes.
const NO_OWNER: u32 = u32::MAX;

/// The segments of one address family.
#[derive(Debug, Clone)]
pub(crate) struct Segments<A: ColumnAddress> {
    /// The first head of each segment, ascending from zero, and the place of its owner: the
    /// smallest subnet that holds it. Both in one list, so that a lookup finds them in one cache
    /// line.
    starts: Vec<(A::Head, u32)>,
    /// For each slot the number of segments that start before it, and at the end their total.
    slots: Vec<u32>,
    /// First head of the first slot. Nothing but the root holds the heads before it.
    base: u64,
    /// A slot spans `1 << shift` heads.
    shift: u32,
}

impl<A: ColumnAddress> Segments<A> {
    /// Flattens the tree; for ten million subnets this takes some tenths of a second.
    pub(crate) fn new(family: &Family<A>) -> Self {
        let segments = flatten(family);
        let first_head =
            |segment: Option<&(A::Head, u32)>| segment.map_or(0, |(head, _)| (*head).into());
        // The first segment starts at zero and is the root's, unless a subnet starts there.
        let base = first_head(segments.get(1));
        let last = first_head(segments.last());
        let span = last.saturating_sub(base);
        let wanted = (segments.len() as u64 / SEGMENTS_PER_SLOT).clamp(1, MAX_SLOTS);
        // The smallest power of two with which the slots reach the last segment.
        let shift = (u64::BITS - (span / wanted).leading_zeros()).min(u64::BITS - 1);
        let slots = index(&segments, base, shift, (span >> shift) + 1);
        Self { starts: segments, slots, base, shift }
    }

    /// The place of the smallest subnet that holds the address; `None` where several subnets share
    /// its head.
    #[inline]
    pub(crate) fn owner(&self, address: A) -> Option<usize> {
        let head = address.head();
        let slot = (head.into().saturating_sub(self.base) >> self.shift) as usize;
        // No segment starts behind the last slot, so that heads there are searched in the last.
        let slot = slot.min(self.slots.len() - 2);
        let start = self.slots[slot] as usize;
        let end = self.slots[slot + 1] as usize;
        let started = self.starts[start..end].partition_point(|(first, _)| *first <= head);
        // Where none has started in this slot, the head belongs to the last segment before it.
        let (_, owner) = self.starts[start + started - 1];
        (owner != NO_OWNER).then_some(owner as usize)
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        self.starts.capacity() * size_of::<(A::Head, u32)>()
            + self.slots.capacity() * size_of::<u32>()
    }
}

/// Counts for each slot, and behind the last one, the segments that start before it.
fn index<H: Copy + Into<u64>>(
    segments: &[(H, u32)],
    base: u64,
    shift: u32,
    slot_count: u64,
) -> Vec<u32> {
    // The first segment starts before all slots, so that each lookup finds a segment.
    let mut before = 1;
    let count = |slot| {
        let is_before = |(head, _): &(H, u32)| ((*head).into() - base) >> shift < slot;
        while segments.get(before).is_some_and(is_before) {
            before += 1;
        }
        before as u32
    };
    (0..=slot_count).map(count).collect()
}

/// Walks over the subnets in pre-order with a stack of those around the current one. Where a subnet
/// ends, its parent has a segment again.
fn flatten<A: ColumnAddress>(family: &Family<A>) -> Vec<(A::Head, u32)> {
    let mut segments = vec![(A::ZERO.head(), 0)];
    let mut around: Vec<(usize, A)> = vec![(0, A::MAX)];
    for place in 1..family.len() {
        let Some((first, last)) = family.bounds(place) else { break };
        resume_parents(&mut segments, &mut around, |end| end < first);
        start_segment(&mut segments, first, place);
        around.push((place, last));
    }
    resume_parents(&mut segments, &mut around, |_| true);
    segments.shrink_to_fit();
    segments
}

/// Takes the subnets that have ended from the stack; starts a segment for each parent that extends
/// beyond its child.
fn resume_parents<A: ColumnAddress>(
    segments: &mut Vec<(A::Head, u32)>,
    around: &mut Vec<(usize, A)>,
    has_ended: impl Fn(A) -> bool,
) {
    while let [.., (parent, parent_end), (_, end)] = around[..]
        && has_ended(end)
    {
        if let Some(next) = end.next().filter(|_| end < parent_end) {
            start_segment(segments, next, parent);
        }
        around.pop();
    }
}

fn start_segment<A: ColumnAddress>(segments: &mut Vec<(A::Head, u32)>, at: A, owner: usize) {
    let head = at.head();
    if A::of_head(head) == at {
        return push(segments, head, owner as u32);
    }
    // The smallest subnet changes within this head. An earlier change within it has already
    // started the segment of the next head, which then only gets another owner.
    if segments.last().is_none_or(|(last, _)| *last <= head) {
        push(segments, head, NO_OWNER);
    }
    if let Some(next) = A::next_head(head) {
        push(segments, next, owner as u32);
    }
}

/// A segment that starts where the latest one starts replaces it: of a parent and a child with the
/// same first address the child is the smaller subnet.
fn push<H: PartialEq>(segments: &mut Vec<(H, u32)>, head: H, owner: u32) {
    segments.pop_if(|(latest, _)| *latest == head);
    segments.push((head, owner));
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

    use proptest::prelude::*;

    use super::Segments;
    use crate::{Builder, Companies, Generation, Hierarchy, Range, Record, SubnetKind};

    /// Ranges of one size at equal distances: first address, distance, size, number.
    type Series = (u128, u128, u128, u128);

    /// From single addresses next to each other to large ranges far apart, so that slots are empty,
    /// full, and covered by one segment.
    fn series(bits: u32) -> impl Strategy<Value = Series> {
        let max = u128::MAX >> (u128::BITS - bits);
        let step =
            (0..bits).prop_map(|shift| 1_u128 << shift).prop_flat_map(|step| step..=2 * step - 1);
        (0..=max, step.clone(), step, 1_u128..80)
    }

    fn ranges(all: &[Series], bits: u32) -> Vec<(u128, u128)> {
        let max = u128::MAX >> (u128::BITS - bits);
        let mut ranges = vec![];
        for (start, step, size, count) in all {
            for number in 0..*count {
                let first = number.checked_mul(*step).and_then(|skip| skip.checked_add(*start));
                let last = first.and_then(|first| first.checked_add(size - 1));
                ranges.extend(first.zip(last).filter(|(_, last)| *last <= max));
            }
        }
        ranges
    }

    fn build(ranges: &[(u128, u128)], address: fn(u128) -> IpAddr) -> Hierarchy {
        let mut builder = Builder::default();
        for (first, last) in ranges {
            let range = Range::new(address(*first), address(*last)).unwrap();
            let kind = SubnetKind::Delegated;
            builder.add(Record { range, kind, registry: None, company: None, country: None });
        }
        builder.build(Generation::new(1), Companies::default()).0
    }

    fn v4(bits: u128) -> IpAddr {
        Ipv4Addr::from_bits(bits as u32).into()
    }

    /// The upper half of the address space has no IPv4-mapped addresses.
    fn v6(bits: u128) -> IpAddr {
        Ipv6Addr::from_bits(bits | 1 << 127).into()
    }

    /// Both ends of each range and the addresses beside them.
    fn probes(ranges: &[(u128, u128)]) -> impl Iterator<Item = u128> {
        let around = |at: u128| [at.saturating_sub(1), at, at.saturating_add(1)];
        ranges.iter().flat_map(move |(first, last)| around(*first).into_iter().chain(around(*last)))
    }

    proptest! {
        #[test]
        fn v4_owners_are_those_of_the_columns(all in prop::collection::vec(series(32), 1..8)) {
            let ranges = ranges(&all, 32);
            let hierarchy = build(&ranges, v4);
            let (family, _) = hierarchy.families();
            let parent = &hierarchy.columns().parent;
            let segments = Segments::new(family);
            for at in probes(&ranges).filter(|at| *at <= u128::from(u32::MAX)) {
                let expected = family.smallest(at as u32, |place| parent[place].index());
                prop_assert_eq!(hierarchy.smallest(v4(at)).index(), expected, "{}", v4(at));
                prop_assert_eq!(segments.owner(at as u32), Some(expected), "{}", v4(at));
            }
        }

        #[test]
        fn v6_owners_are_those_of_the_columns(all in prop::collection::vec(series(127), 1..8)) {
            let ranges = ranges(&all, 127);
            let hierarchy = build(&ranges, v6);
            let (_, family) = hierarchy.families();
            let parent = &hierarchy.columns().parent;
            let segments = Segments::new(family);
            for at in probes(&ranges).filter(|at| *at < 1 << 127) {
                let IpAddr::V6(address) = v6(at) else { continue };
                let address = address.to_bits();
                let expected = family.smallest(address, |place| parent[place + 1].index() - 1);
                prop_assert_eq!(hierarchy.smallest(v6(at)).index(), expected + 1, "{}", v6(at));
                let owner = segments.owner(address);
                prop_assert!(owner.is_none_or(|owner| owner == expected), "{}", v6(at));
            }
        }
    }
}
