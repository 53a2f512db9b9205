//! Irregular ranges: those that a head and a number of bits cannot encode.
//!
//! Their size is no power of two, or they begin inside an IPv6 /64. Because they are only one to
//! three in a hundred, both their ends are stored beside the columns.

use crate::address::Address;

/// Number of places that share one entry of the index.
const PLACES_PER_ENTRY: usize = 256;

#[derive(Debug, Clone, Default)]
pub(crate) struct IrregularRanges<A> {
    /// Places of the ranges in their family, ascending.
    pub(crate) places: Vec<u32>,
    pub(crate) first: Vec<A>,
    pub(crate) last: Vec<A>,
    /// Number of irregular ranges before each group of [`PLACES_PER_ENTRY`] places.
    before: Vec<u32>,
}

impl<A: Address> IrregularRanges<A> {
    /// Takes columns of equal length. [`IrregularRanges::index`] must follow.
    pub(crate) fn of_columns(places: Vec<u32>, first: Vec<A>, last: Vec<A>) -> Self {
        Self { places, first, last, before: vec![] }
    }

    pub(crate) fn push(&mut self, place: usize, first: A, last: A) {
        self.places.push(place as u32);
        self.first.push(first);
        self.last.push(last);
    }

    /// Builds the index once all ranges are present.
    pub(crate) fn index(mut self) -> Self {
        self.before.clear();
        for (rank, place) in (0..).zip(&self.places) {
            let entries = *place as usize / PLACES_PER_ENTRY + 1;
            self.before.resize(self.before.len().max(entries), rank);
        }
        self.before.push(self.places.len() as u32);
        self.places.shrink_to_fit();
        self.first.shrink_to_fit();
        self.last.shrink_to_fit();
        self.before.shrink_to_fit();
        self
    }

    /// Both ends of the range at this place; `None` where that range is not irregular.
    pub(crate) fn get(&self, place: usize) -> Option<(A, A)> {
        let entry = place / PLACES_PER_ENTRY;
        let from = *self.before.get(entry)? as usize;
        let to = self.before.get(entry + 1).map_or(self.places.len(), |to| *to as usize);
        let group = self.places.get(from..to)?;
        let rank = from + group.iter().position(|other| *other as usize == place)?;
        Some((*self.first.get(rank)?, *self.last.get(rank)?))
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        (self.places.capacity() + self.before.capacity()) * size_of::<u32>()
            + (self.first.capacity() + self.last.capacity()) * size_of::<A>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_irregular_range_is_found_at_its_place_and_nowhere_else() {
        let places = [0_usize, 1, 255, 256, 300, 1_024, 9_999];
        let mut ranges = IrregularRanges::<u32>::default();
        for place in places {
            ranges.push(place, place as u32, place as u32 + 5);
        }
        let ranges = ranges.index();
        for place in 0..12_000 {
            let expected = places.contains(&place).then_some((place as u32, place as u32 + 5));
            assert_eq!(ranges.get(place), expected, "{place}");
        }
        assert_eq!(IrregularRanges::<u32>::default().index().get(0), None);
    }
}
