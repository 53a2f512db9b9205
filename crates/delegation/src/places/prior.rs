//! Prior of a subnet over the places: populations, and where earlier subnets turned out to be.

use std::collections::HashMap;

use hierarchy::{CompanyId, Country, Registry};

use super::Levels;
use super::distance_table::{DistanceTable, PlaceIndex};

/// Share of subnets that are outside of the country to which their registry gave them.
const ABROAD: f32 = 0.15;
/// Probability below which a subnet does not count for the places of its company: most companies
/// are at one or two.
const MIN_OF_COMPANY: f32 = 0.02;

/// Counts of subnets by place, at four levels.
#[derive(Debug, Clone, Default)]
pub(super) struct Prior {
    counts: HashMap<Level, Counts>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Level {
    Any,
    Registry(Registry),
    Country(Country),
    Company(CompanyId),
}

impl Level {
    /// Number of subnets of a level that weigh as much as what is known one level up.
    fn smoothing(self) -> f32 {
        match self {
            Self::Any => 90.0,
            Self::Registry(_) => 40.0,
            Self::Country(_) => 30.0,
            Self::Company(_) => 6.0,
        }
    }
}

/// Subnets by place, sorted by place.
#[derive(Debug, Clone, Default)]
struct Counts {
    total: f32,
    by_place: Vec<(PlaceIndex, f32)>,
}

impl Prior {
    /// Probability of each place for a subnet of these levels.
    ///
    /// This is hierarchical Dirichlet smoothing: each level is a mixture of its own counts and of
    /// the level above it. The level above weighs as much as [`Level::smoothing`] subnets.
    pub(super) fn probabilities(&self, map: &DistanceTable, levels: Levels) -> Vec<f32> {
        let mut probabilities = map.anywhere().to_vec();
        self.blend(Some(Level::Any), &mut probabilities);
        self.blend(levels.registry.map(Level::Registry), &mut probabilities);
        if let Some(country) = levels.country {
            let domestic = map.places_of(country);
            if !domestic.is_empty() {
                for probability in &mut probabilities {
                    *probability *= ABROAD;
                }
            }
            for (place, weight) in domestic {
                probabilities[*place] += (1.0 - ABROAD) * weight;
            }
        }
        self.blend(levels.country.map(Level::Country), &mut probabilities);
        self.blend(levels.company.map(Level::Company), &mut probabilities);
        probabilities
    }

    /// Counts a subnet that is at each place with this probability.
    pub(super) fn count(&mut self, levels: Levels, places: &[(PlaceIndex, f32)]) {
        let all = [
            Some(Level::Any),
            levels.registry.map(Level::Registry),
            levels.country.map(Level::Country),
        ];
        for level in all.into_iter().flatten() {
            let counts = self.counts.entry(level).or_default();
            for (place, weight) in places {
                counts.add(*place, *weight);
            }
        }
        if let Some(company) = levels.company {
            let counts = self.counts.entry(Level::Company(company)).or_default();
            for (place, weight) in places.iter().filter(|(_, weight)| *weight >= MIN_OF_COMPANY) {
                counts.add(*place, *weight);
            }
        }
    }

    /// Forgets all counts.
    pub(super) fn clear(&mut self) {
        self.counts.clear();
    }

    /// Mixes the counts of a level into the probabilities of the level above it.
    fn blend(&self, level: Option<Level>, probabilities: &mut [f32]) {
        let Some(level) = level else { return };
        let Some(counts) = self.counts.get(&level) else { return };
        let all = counts.total + level.smoothing();
        let kept = level.smoothing() / all;
        for probability in probabilities.iter_mut() {
            *probability *= kept;
        }
        for (place, count) in &counts.by_place {
            probabilities[*place] += count / all;
        }
    }
}

impl Counts {
    fn add(&mut self, place: PlaceIndex, weight: f32) {
        self.total += weight;
        match self.by_place.binary_search_by_key(&place, |(counted, _)| *counted) {
            Ok(index) => self.by_place[index].1 += weight,
            Err(index) => self.by_place.insert(index, (place, weight)),
        }
    }
}
