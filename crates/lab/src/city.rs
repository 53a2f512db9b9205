//! The places of a world.

use serde::Deserialize;

/// Position of a city in its [`World`](crate::World); dense from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(transparent)]
pub struct CityId(usize);

impl CityId {
    /// The city at `index` of the world's list.
    pub fn new(index: usize) -> Self {
        Self(index)
    }

    /// Index into [`World::cities`](crate::World::cities).
    pub fn get(self) -> usize {
        self.0
    }
}

/// A place with machines in it. A plain matrix knows no geography: its cities are called `host N`,
/// lie in country `ZZ` and at 0, 0.
#[derive(Debug, Clone, PartialEq)]
pub struct City {
    /// Name as the source writes it.
    pub name: String,
    /// ISO 3166 code, two capital letters; `ZZ` when unknown.
    pub country: String,
    pub lat: f64,
    pub lon: f64,
}

impl City {
    /// Place number `index` of a matrix without geography.
    pub(crate) fn nameless(index: usize) -> Self {
        Self { name: format!("host {index}"), country: "ZZ".into(), lat: 0.0, lon: 0.0 }
    }

    /// Degrees north and east; `None` for a host of a matrix without geography.
    pub fn position(&self) -> Option<(f64, f64)> {
        (self.lat != 0.0 || self.lon != 0.0).then_some((self.lat, self.lon))
    }

    /// Great-circle distance in kilometres (haversine on a sphere of 6,371 km).
    pub fn distance_km(&self, other: &City) -> f64 {
        let lat_a = self.lat.to_radians();
        let lat_b = other.lat.to_radians();
        let half_lat = ((lat_b - lat_a) / 2.0).sin();
        let half_lon = ((other.lon - self.lon).to_radians() / 2.0).sin();
        let chord = half_lat * half_lat + lat_a.cos() * lat_b.cos() * half_lon * half_lon;
        2.0 * 6371.0 * chord.sqrt().min(1.0).asin()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(lat: f64, lon: f64) -> City {
        City { name: String::new(), country: "ZZ".into(), lat, lon }
    }

    #[test]
    fn a_quarter_of_the_equator() {
        let quarter = at(0.0, 0.0).distance_km(&at(0.0, 90.0));
        assert!((quarter - 10_007.5).abs() < 1.0, "{quarter}");
    }

    #[test]
    fn antipodes_do_not_overflow_the_arcsine() {
        let half = at(35.0, 33.0).distance_km(&at(-35.0, -147.0));
        assert!((half - 20_015.0).abs() < 1.0, "{half}");
    }
}
