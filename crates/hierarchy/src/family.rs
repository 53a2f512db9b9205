//! The ranges of one address family in pre-order, as flat columns.
//!
//! Of a range its first address is kept and, in one byte, how many low bits its size takes: most
//! ranges have a power of two of addresses. The few others are [`Odd`]. First addresses ascend in
//! pre-order, so that the last subnet that begins at or before an address is found by halves, and
//! the smallest subnet that holds the address is that one or the nearest around it that reaches so
//! far. That is the long way, for what the [`Trie`](crate::trie::Trie) does not tell.

use std::ops::Range;

use crate::address::Address;
use crate::odd::Odd;

/// In the place of the bits: see [`Odd`].
pub(crate) const ODD: u8 = u8::MAX;

/// Places count from the family's root; [`crate::Hierarchy`] turns them into ids.
#[derive(Debug, Clone)]
pub(crate) struct Family<A: Address> {
    pub(crate) heads: Vec<A::Head>,
    /// `1 << bits` addresses, or [`ODD`].
    pub(crate) bits: Vec<u8>,
    pub(crate) odd: Odd<A>,
}

impl<A: Address> Family<A> {
    /// From the first and last addresses of the subnets in pre-order, the root first.
    pub(crate) fn new(first: &[A], last: &[A]) -> Self {
        let heads: Vec<A::Head> = first.iter().map(|first| first.head()).collect();
        let mut odd = Odd::default();
        let mut bits_of = |(place, (first, last)): (usize, (&A, &A))| {
            let told = A::of_head(first.head()) == *first;
            last.span_bits(*first).filter(|_| told).unwrap_or_else(|| {
                odd.push(place, *first, *last);
                ODD
            })
        };
        let bits = first.iter().zip(last).enumerate().map(&mut bits_of).collect();
        Self::of_columns(heads, bits, odd)
    }

    /// From columns that were made by [`Family::new`].
    pub(crate) fn of_columns(heads: Vec<A::Head>, bits: Vec<u8>, odd: Odd<A>) -> Self {
        Self { odd: odd.index(), heads, bits }
    }

    pub(crate) fn len(&self) -> usize {
        self.heads.len()
    }

    /// The place of the smallest subnet that holds the address; `parent` leads from a subnet's
    /// place to the one around it.
    pub(crate) fn smallest(&self, address: A, parent: impl Fn(usize) -> usize) -> usize {
        let mut place = self.begun(address);
        while place != 0 && !self.reaches(place, address) {
            place = parent(place);
        }
        place
    }

    /// The last place that begins at or before the address.
    fn begun(&self, address: A) -> usize {
        let head = address.head();
        // The root begins at or before everything.
        let place = self.heads.partition_point(|other| *other <= head) - 1;
        if A::HEAD_IS_ALL || self.first(place) <= address {
            return place;
        }
        // Several begin in the same /64.
        let same_head = self.heads[..place].partition_point(|other| *other < head);
        partition(same_head..place, |place| self.first(place) <= address) - 1
    }

    /// Whether a subnet that begins at or before the address reaches to it.
    fn reaches(&self, place: usize, address: A) -> bool {
        match self.bits[place] {
            ODD => self.odd.get(place).is_some_and(|(_, last)| address <= last),
            bits => address.within(A::of_head(self.heads[place]), bits),
        }
    }

    fn first(&self, place: usize) -> A {
        let told = A::of_head(self.heads[place]);
        if A::HEAD_IS_ALL || self.bits[place] != ODD {
            return told;
        }
        self.odd.get(place).map_or(told, |(first, _)| first)
    }

    pub(crate) fn bounds(&self, place: usize) -> Option<(A, A)> {
        match *self.bits.get(place)? {
            ODD => self.odd.get(place),
            bits => {
                let first = A::of_head(*self.heads.get(place)?);
                Some((first, first.last_of(bits)?))
            }
        }
    }

    /// The place after the last descendant. Descendants follow at once in pre-order and start
    /// inside the range; most subtrees are small, so the search gallops before it halves.
    pub(crate) fn subtree_end(&self, place: usize) -> usize {
        let Some((_, last)) = self.bounds(place) else { return place };
        let mut step = 1;
        while place + step < self.len() && self.first(place + step) <= last {
            step *= 2;
        }
        let to = (place + step).min(self.len());
        partition(place + step / 2 + 1..to, |place| self.first(place) <= last)
    }

    /// The place of exactly this range.
    pub(crate) fn find(&self, first: A, last: A) -> Option<usize> {
        let after = self.begun(first) + 1;
        // Of those that begin together the wider come first.
        let begin = self.first_from(first);
        let place =
            partition(begin..after, |place| self.bounds(place).is_some_and(|(_, l)| l > last));
        (self.bounds(place) == Some((first, last))).then_some(place)
    }

    /// The first place that begins at the address or after it.
    pub(crate) fn first_from(&self, address: A) -> usize {
        partition(0..self.begun(address) + 1, |place| self.first(place) < address)
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        self.heads.capacity() * size_of::<A::Head>() + self.bits.capacity() + self.odd.heap_bytes()
    }
}

/// The first number of a span for which `early` no longer holds; it holds for all before and none
/// after.
fn partition(span: Range<usize>, early: impl Fn(usize) -> bool) -> usize {
    let Range { mut start, mut end } = span;
    while start < end {
        let middle = start + (end - start) / 2;
        if early(middle) { start = middle + 1 } else { end = middle }
    }
    start
}
