//! Where the agents of a bench are, and how long a round trip over a distance takes.

use delegation::places::{ListedPlace, listed_places};
use model::PlaceClaim;

/// The most populated places are used.
const PLACES: usize = 500;
/// Microseconds of a round trip for each kilometre: light in fibre, by a way with detours.
const US_PER_KM: f32 = 14.0;
/// Round trip without any distance, in microseconds.
pub(crate) const ACCESS_US: u32 = 3_000;

/// Places by number; agents have them in turn.
pub(crate) struct Cities(Vec<ListedPlace>);

impl Cities {
    pub(crate) fn new() -> Self {
        let mut places = listed_places();
        places.sort_by(|a, b| b.population.total_cmp(&a.population));
        places.truncate(PLACES);
        Self(places)
    }

    /// The place with this number, which may be larger than the number of places.
    pub(crate) fn get(&self, number: u64) -> &ListedPlace {
        &self.0[(number % self.0.len() as u64) as usize]
    }

    /// What the owner of an agent at this place says of it.
    pub(crate) fn claim(&self, number: u64) -> Option<PlaceClaim> {
        let (latitude, longitude) = self.get(number).position.degrees();
        PlaceClaim::new(latitude.into(), longitude.into(), None, None).ok()
    }
}

/// The round trip between two places, in microseconds.
pub(crate) fn round_trip_us(a: &ListedPlace, b: &ListedPlace) -> u32 {
    ACCESS_US + (a.position.distance_km(b.position) * US_PER_KM) as u32
}
