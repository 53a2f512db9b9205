//! Ranges of one address family in pre-order, as flat columns.
//!
//! A range is encoded as its first address and, in one byte, the number of low bits that its size
//! takes, because most ranges have a power of two of addresses. The others are
//! [irregular](IrregularRanges). First addresses ascend in pre-order, so that a binary search finds
//! the last subnet that begins at or before an address. The smallest subnet that holds the address
//! is that one or its nearest ancestor that extends so far.

use std::ops::Range;

use crate::address::ColumnAddress;
use crate::irregular::IrregularRanges;

/// Stands in the column of bits for an irregular range.
pub(crate) const IRREGULAR: u8 = u8::MAX;

/// The ranges of one family. A place counts from the family's root; [`crate::Hierarchy`] converts
/// places to ids.
#[derive(Debug, Clone)]
pub(crate) struct Family<A: ColumnAddress> {
    pub(crate) heads: Vec<A::Head>,
    /// The range has `1 << bits` addresses, unless the byte is [`IRREGULAR`].
    pub(crate) bits: Vec<u8>,
    pub(crate) irregular: IrregularRanges<A>,
}

impl<A: ColumnAddress> Family<A> {
    /// Encodes the first and last addresses of the subnets in pre-order, the root first.
    pub(crate) fn new(first: &[A], last: &[A]) -> Self {
        let heads: Vec<A::Head> = first.iter().map(|first| first.head()).collect();
        let mut irregular = IrregularRanges::default();
        let mut bits = Vec::with_capacity(heads.len());
        for (place, (first, last)) in first.iter().zip(last).enumerate() {
            let begins_at_head = A::of_head(first.head()) == *first;
            let encoded = last.span_bits(*first).filter(|_| begins_at_head);
            if encoded.is_none() {
                irregular.push(place, *first, *last);
            }
            bits.push(encoded.unwrap_or(IRREGULAR));
        }
        Self { heads, bits, irregular }.indexed()
    }

    /// Builds the index of the irregular ranges. Until then no range may be asked for.
    pub(crate) fn indexed(self) -> Self {
        Self { irregular: self.irregular.index(), ..self }
    }

    pub(crate) fn len(&self) -> usize {
        self.heads.len()
    }

    /// The place of the smallest subnet that holds the address. `parent` maps the place of a subnet
    /// to the place of its parent.
    pub(crate) fn smallest(&self, address: A, parent: impl Fn(usize) -> usize) -> usize {
        let mut place = self.last_begun(address);
        while place != 0 && !self.extends_to(place, address) {
            place = parent(place);
        }
        place
    }

    /// The last place that begins at or before the address.
    pub(crate) fn last_begun(&self, address: A) -> usize {
        let head = address.head();
        // The root begins at or before every address, so that the point is at least one.
        let place = self.heads.partition_point(|other| *other <= head) - 1;
        if A::HEAD_IS_ALL || self.first(place) <= address {
            return place;
        }
        // Several ranges begin in the same /64: only their full addresses are in order.
        let same_head = self.heads[..place].partition_point(|other| *other < head);
        partition(same_head..place, |place| self.first(place) <= address) - 1
    }

    /// Whether a subnet that begins at or before the address holds it.
    fn extends_to(&self, place: usize, address: A) -> bool {
        match self.bits[place] {
            IRREGULAR => self.irregular.get(place).is_some_and(|(_, last)| address <= last),
            bits => address.within(A::of_head(self.heads[place]), bits),
        }
    }

    fn first(&self, place: usize) -> A {
        let of_head = A::of_head(self.heads[place]);
        if A::HEAD_IS_ALL || self.bits[place] != IRREGULAR {
            return of_head;
        }
        self.irregular.get(place).map_or(of_head, |(first, _)| first)
    }

    /// First and last address of the range at this place.
    pub(crate) fn bounds(&self, place: usize) -> Option<(A, A)> {
        match *self.bits.get(place)? {
            IRREGULAR => self.irregular.get(place),
            bits => {
                let first = A::of_head(*self.heads.get(place)?);
                Some((first, first.last_of(bits)?))
            }
        }
    }

    /// The place after the last descendant.
    pub(crate) fn subtree_end(&self, place: usize) -> usize {
        let Some((_, last)) = self.bounds(place) else { return place };
        // Descendants follow their ancestor directly and begin inside its range. Most subtrees are
        // small, so that doubling steps find their end sooner than halving all the rest.
        let mut step = 1;
        while place + step < self.len() && self.first(place + step) <= last {
            step *= 2;
        }
        let to = (place + step).min(self.len());
        partition(place + step / 2 + 1..to, |place| self.first(place) <= last)
    }

    /// The first place that begins at the address or after it.
    pub(crate) fn first_from(&self, address: A) -> usize {
        partition(0..self.last_begun(address) + 1, |place| self.first(place) < address)
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        self.heads.capacity() * size_of::<A::Head>()
            + self.bits.capacity()
            + self.irregular.heap_bytes()
    }
}

/// The first number of `span` for which `is_before` is false; it must be true for all numbers
/// before that and false for all after.
fn partition(span: Range<usize>, is_before: impl Fn(usize) -> bool) -> usize {
    let Range { mut start, mut end } = span;
    while start < end {
        let middle = start + (end - start) / 2;
        if is_before(middle) { start = middle + 1 } else { end = middle }
    }
    start
}
