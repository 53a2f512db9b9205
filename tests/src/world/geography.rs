//! Round trips between cities, and the city of each measured address.

use std::path::Path;

use lab::{CityId, Target, World};

use super::WorldError;
use super::candidate::Candidate;

/// From this distance between an address's place and its city, the city says little; see the
/// oracle's description.
const FAR_KM: u32 = 400;

/// Cities, round trips, and measured addresses where there are any.
#[derive(Debug)]
pub struct Geography {
    world: World,
    targets: Vec<Target>,
}

impl Geography {
    /// Opens the folder of measurements, or makes the geographic world of the seed where none is
    /// given.
    pub fn open(oracle: Option<&Path>, seed: u64) -> Result<Self, WorldError> {
        let Some(folder) = oracle else {
            return Ok(Self { world: World::geographic(seed), targets: Vec::new() });
        };
        let world = World::measured(folder).map_err(WorldError::Oracle)?;
        let targets = lab::targets(&folder.join("targets.csv.gz"));
        let mut targets = targets.map_err(WorldError::Targets)?;
        // The nearest city to an address may be one whose position in the list is that of a
        // namesake: the times to it are those of another place.
        let is_listed_right = |city: CityId| {
            let city = world.cities().get(city.get());
            city.is_some_and(|city| city.corrected_position() == city.position())
        };
        targets.retain(|target| target.dist_km < FAR_KM && is_listed_right(target.city));
        Ok(Self { world, targets })
    }

    /// Whether its round trips were measured, rather than made from distances.
    pub fn is_measured(&self) -> bool {
        !self.targets.is_empty()
    }

    /// Addresses with measured cities; none in the geographic world.
    pub(super) fn targets(&self) -> &[Target] {
        &self.targets
    }

    /// Cities and the round trips between them.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// Whether a candidate is in the country of its city.
    pub(super) fn is_in_country_of_city(&self, candidate: &Candidate) -> bool {
        let city = self.world.cities().get(candidate.city.get());
        city.is_some_and(|city| city.country == candidate.country.as_str())
    }

    /// The cities of a country.
    pub(super) fn cities_of(&self, country: &str) -> Vec<CityId> {
        let cities = self.world.ids().zip(self.world.cities());
        cities.filter(|(_, city)| city.country == country).map(|(id, _)| id).collect()
    }
}
