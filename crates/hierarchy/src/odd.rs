//! The ranges that a head and a number of bits do not tell: those whose size is no power of two,
//! and those of IPv6 that begin inside a /64.
//!
//! One to three in a hundred, so that both ends of them are written out beside the columns.

use crate::address::Address;

/// Places that share one entry of the index.
const STEP: usize = 256;

#[derive(Debug, Clone, Default)]
pub(crate) struct Odd<A> {
    /// Ascending.
    pub(crate) places: Vec<u32>,
    pub(crate) first: Vec<A>,
    pub(crate) last: Vec<A>,
    /// How many odd ranges come before each [`STEP`] places.
    before: Vec<u32>,
}

impl<A: Address> Odd<A> {
    /// From columns of one length; not indexed yet.
    pub(crate) fn of_columns(places: Vec<u32>, first: Vec<A>, last: Vec<A>) -> Self {
        Self { places, first, last, before: vec![] }
    }

    pub(crate) fn push(&mut self, place: usize, first: A, last: A) {
        self.places.push(place as u32);
        self.first.push(first);
        self.last.push(last);
    }

    /// To be called once all are there.
    pub(crate) fn index(mut self) -> Self {
        self.before.clear();
        for (rank, place) in (0..).zip(&self.places) {
            let steps = *place as usize / STEP + 1;
            self.before.resize(self.before.len().max(steps), rank);
        }
        self.before.push(self.places.len() as u32);
        self.places.shrink_to_fit();
        self.first.shrink_to_fit();
        self.last.shrink_to_fit();
        self.before.shrink_to_fit();
        self
    }

    /// Both ends of the range at this place.
    pub(crate) fn get(&self, place: usize) -> Option<(A, A)> {
        let step = place / STEP;
        let from = *self.before.get(step)? as usize;
        let to = self.before.get(step + 1).map_or(self.places.len(), |to| *to as usize);
        let here = self.places.get(from..to)?;
        let rank = from + here.iter().position(|odd| *odd as usize == place)?;
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
    fn each_odd_range_is_found_at_its_place_and_nowhere_else() {
        let places = [0_usize, 1, 255, 256, 300, 1_024, 9_999];
        let mut odd = Odd::<u32>::default();
        for place in places {
            odd.push(place, place as u32, place as u32 + 5);
        }
        let odd = odd.index();
        for place in 0..12_000 {
            let expected = places.contains(&place).then_some((place as u32, place as u32 + 5));
            assert_eq!(odd.get(place), expected, "{place}");
        }
        assert_eq!(Odd::<u32>::default().index().get(0), None);
    }
}
