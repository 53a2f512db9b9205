//! Which subnet an address is in, as fast as memory allows.
//!
//! The tree is flattened: wherever the smallest subnet changes along the address line, a *segment* starts. A first-level
//! table cuts the line into up to 2^20 equal buckets and says which segments start in each; a lookup is one table read, a
//! search among the few segments of one bucket. A bucket tells the upper bits of the starts in it, so that only the lower
//! ones are stored, right beside the owner: 6 bytes a segment for IPv4, and mostly two cache misses a lookup.

use crate::address::Address;
use crate::id::SubnetId;
use crate::nest::Nest;

/// Above this the table outgrows the caches that make it worth having.
const MOST_BUCKET_BITS: u32 = 20;

/// Packed, since padding would cost a third of the memory and of the cache lines.
#[derive(Debug, Clone, Copy)]
#[repr(C, packed(2))]
struct Segment<L: Copy> {
    /// Start of the segment, as far as the bucket does not tell it.
    low: L,
    owner: SubnetId,
}

#[derive(Debug, Clone)]
pub(crate) struct Segments<A: Address> {
    /// Where the first bucket starts; addresses before it belong to the first segment, the root's.
    base: A,
    /// A bucket spans `1 << shift` addresses; the last one reaches to the end of the line.
    shift: u32,
    /// The segments that start in bucket *b* are `line[table[b]..table[b + 1]]`.
    table: Vec<u32>,
    line: Vec<Segment<A::Low>>,
}

impl<A: Address> Segments<A> {
    /// Flattens a nest whose root has the given id.
    pub(crate) fn new(nest: &Nest<A>, root: u32) -> Self {
        let mut line = Line::new(nest);
        line.start(A::ZERO, root);
        let mut inside = 0;
        for (node, first) in nest.first.iter().enumerate().skip(1) {
            leave(nest, inside, Some(*first), |at, owner| line.start(at, root + owner));
            line.start(*first, root + node as u32);
            inside = node;
        }
        leave(nest, inside, None, |at, owner| line.start(at, root + owner));
        line.finish()
    }

    /// The smallest subnet that holds the address.
    pub(crate) fn owner(&self, address: A) -> SubnetId {
        let Some(offset) = address.offset(self.base) else { return self.line[0].owner };
        let bucket = offset.bucket(self.shift).min(self.table.len() - 2);
        let starts = self.table[bucket] as usize..self.table[bucket + 1] as usize;
        let low = offset.low(self.shift);
        let after = starts.start + self.line[starts].partition_point(|segment| { segment.low } <= low);
        // The first segment starts in the first bucket with a low of zero, so there is always one before `after`.
        self.line[after.saturating_sub(1)].owner
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        self.table.capacity() * size_of::<u32>() + self.line.capacity() * size_of::<Segment<A::Low>>()
    }
}

/// Walks up from a node to the one that holds `target` (to the root without one) and reports where each left node's parent
/// goes on.
fn leave<A: Address>(nest: &Nest<A>, from: usize, target: Option<A>, mut goes_on: impl FnMut(A, u32)) {
    let mut node = from;
    while node != 0 && target.is_none_or(|target| nest.last[node] < target) {
        let parent = nest.parent[node];
        if let Some(after) = nest.last[node].next().filter(|_| nest.last[node] < nest.last[parent.index()]) {
            goes_on(after, parent.get());
        }
        node = parent.index();
    }
}

/// Segments under construction; starts come in ascending order.
struct Line<A: Address> {
    segments: Segments<A>,
    buckets: usize,
    latest: Option<A>,
}

impl<A: Address> Line<A> {
    fn new(nest: &Nest<A>) -> Self {
        let lowest = nest.first.get(1).copied().unwrap_or(A::ZERO);
        let highest = nest.last.iter().skip(1).max().copied().unwrap_or(A::MAX);
        let (base, span) = A::window(lowest, highest);
        let bits = (nest.first.len().ilog2()).clamp(A::LEAST_BUCKET_BITS, MOST_BUCKET_BITS);
        let shift = span.width().saturating_sub(bits);
        let buckets = span.bucket(shift) + 1;
        let segments = Segments { base, shift, table: Vec::with_capacity(buckets + 1), line: vec![] };
        Self { segments, buckets, latest: None }
    }

    /// A segment starts here; a second start at the same address replaces the first.
    fn start(&mut self, at: A, owner: u32) {
        let owner = SubnetId::new(owner);
        let Segments { base, shift, table, line } = &mut self.segments;
        if self.latest == Some(at) {
            if let Some(latest) = line.last_mut() {
                latest.owner = owner;
            }
            return;
        }
        let offset = at.offset(*base).unwrap_or(A::ZERO);
        let bucket = offset.bucket(*shift).min(self.buckets - 1);
        table.resize(table.len().max(bucket + 1), line.len() as u32);
        line.push(Segment { low: offset.low(*shift), owner });
        self.latest = Some(at);
    }

    fn finish(mut self) -> Segments<A> {
        self.segments.table.resize(self.buckets + 1, self.segments.line.len() as u32);
        self.segments.line.shrink_to_fit();
        self.segments
    }
}
