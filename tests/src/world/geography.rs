//! Round trips between cities, and the city of each measured address.

use std::path::Path;

use lab::{CityId, Target, World};

use super::WorldError;

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
        let world = World::measured(folder)?;
        let mut targets = lab::targets(&folder.join("targets.csv.gz"))?;
        targets
            .retain(|target| target.dist_km < FAR_KM && target.city.get() < world.cities().len());
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

    /// The cities of a country.
    pub(super) fn cities_of(&self, country: &str) -> Vec<CityId> {
        let cities = self.world.ids().zip(self.world.cities());
        cities.filter(|(_, city)| city.country == country).map(|(id, _)| id).collect()
    }
}
