//! The ranges of one address family in pre-order, as flat columns.

use crate::address::Address;
use crate::id::SubnetId;
use crate::nest::Nest;
use crate::segments::Segments;

/// Places count from the family's root; [`crate::Hierarchy`] turns them into ids.
#[derive(Debug, Clone)]
pub(crate) struct Family<A: Address> {
    first: Vec<A>,
    last: Vec<A>,
    segments: Segments<A>,
}

impl<A: Address> Family<A> {
    /// Takes the nest's ranges; `root` is the id of its root.
    pub(crate) fn new(nest: &mut Nest<A>, root: u32) -> Self {
        let segments = Segments::new(nest, root);
        let (mut first, mut last) = (std::mem::take(&mut nest.first), std::mem::take(&mut nest.last));
        first.shrink_to_fit();
        last.shrink_to_fit();
        Self { first, last, segments }
    }

    pub(crate) fn len(&self) -> usize {
        self.first.len()
    }

    pub(crate) fn smallest(&self, address: A) -> SubnetId {
        self.segments.owner(address)
    }

    pub(crate) fn bounds(&self, place: usize) -> Option<(A, A)> {
        Some((*self.first.get(place)?, *self.last.get(place)?))
    }

    /// The place after the last descendant. Descendants follow at once in pre-order and start inside the range; most
    /// subtrees are small, so the search gallops before it halves.
    pub(crate) fn subtree_end(&self, place: usize) -> usize {
        let Some(last) = self.last.get(place) else { return place };
        let after = &self.first[place + 1..];
        let mut bound = 1;
        while after.get(bound - 1).is_some_and(|first| first <= last) {
            bound *= 2;
        }
        let (from, to) = (bound / 2, bound.min(after.len()));
        place + 1 + from + after[from..to].partition_point(|first| first <= last)
    }

    /// The place of exactly this range.
    pub(crate) fn find(&self, first: A, last: A) -> Option<usize> {
        let from = self.first.partition_point(|f| *f < first);
        let same_start = self.first[from..].partition_point(|f| *f == first);
        let wider = self.last[from..from + same_start].partition_point(|l| *l > last);
        (self.bounds(from + wider) == Some((first, last))).then_some(from + wider)
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        (self.first.capacity() + self.last.capacity()) * size_of::<A>() + self.segments.heap_bytes()
    }
}
