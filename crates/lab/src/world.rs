//! The full matrix of a world.

use crate::partial_matrix::{Gaps, PartialMatrix};
use crate::{City, CityId};

/// Cities and the round trip between any two of them.
#[derive(Debug, Clone)]
pub struct World {
    cities: Vec<City>,
    rtt_ms: Vec<f64>,
    jitter_ms: Vec<f64>,
    gaps: Gaps,
}

impl World {
    /// `jitter_ms` is row by row like the costs: the spread of what the row's city measured.
    pub(crate) fn from_partial(
        cities: Vec<City>,
        costs: &PartialMatrix,
        jitter_ms: Vec<f64>,
    ) -> Self {
        let (rtt_ms, gaps) = costs.complete();
        Self { cities, rtt_ms, jitter_ms, gaps }
    }

    /// All cities; a [`CityId`] is an index of this list.
    pub fn cities(&self) -> &[City] {
        &self.cities
    }

    /// Ids of all cities, in order.
    pub fn ids(&self) -> impl Iterator<Item = CityId> + use<> {
        (0..self.cities.len()).map(CityId::new)
    }

    /// The city called `name`, the first one where several are.
    pub fn find(&self, name: &str) -> Option<CityId> {
        self.cities.iter().position(|city| city.name == name).map(CityId::new)
    }

    /// Round trip in milliseconds; the same in both directions; infinite when no way is known or an
    /// id is not of this world.
    pub fn rtt_ms(&self, a: CityId, b: CityId) -> f64 {
        self.cell(a, b).map_or(f64::INFINITY, |cell| self.rtt_ms[cell])
    }

    /// Whether there are other cities, and no way to any of them is known.
    pub(crate) fn is_isolated(&self, city: CityId) -> bool {
        let mut others = self.ids().filter(|other| *other != city).peekable();
        others.peek().is_some() && others.all(|other| self.rtt_ms(city, other).is_infinite())
    }

    /// Usual deviation of a measurement made at `from`, in milliseconds; 0 when nothing is known of
    /// it.
    pub fn jitter_ms(&self, from: CityId, to: CityId) -> f64 {
        self.cell(from, to).map_or(0.0, |cell| self.jitter_ms[cell])
    }

    /// What had to be filled in.
    pub fn gaps(&self) -> Gaps {
        self.gaps
    }

    fn cell(&self, a: CityId, b: CityId) -> Option<usize> {
        let side = self.cities.len();
        (a.get() < side && b.get() < side).then(|| a.get() * side + b.get())
    }
}
