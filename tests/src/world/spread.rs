//! Choice of a few cities that together are near to all countries.

use std::collections::{BTreeMap, BTreeSet};

use hierarchy::Country;
use lab::{CityId, World};

use super::candidate::Candidate;

/// Candidates that a city must have to be worth an agent.
const LEAST_CANDIDATES: usize = 4;

/// `count` cities with `homes` for agents, each chosen so that the sum of the round trips from the
/// countries of `candidates` to their nearest chosen city falls most.
pub(super) fn cities(
    world: &World,
    candidates: &[Candidate],
    homes: &[Candidate],
    count: usize,
) -> Vec<CityId> {
    let able = able(homes);
    let demand = demand(candidates);
    let mut nearest = vec![f64::INFINITY; demand.len()];
    let mut chosen = Vec::with_capacity(count);
    while chosen.len() < count {
        let cost = |city: CityId| -> f64 {
            demand
                .iter()
                .zip(&nearest)
                .map(|(to, near)| world.rtt_ms(city, *to).min(*near).min(FAR_MS))
                .sum()
        };
        let free = able.iter().filter(|city| !chosen.contains(*city));
        let Some(best) = free.copied().min_by(|a, b| cost(*a).total_cmp(&cost(*b))) else { break };
        for (near, to) in nearest.iter_mut().zip(&demand) {
            *near = near.min(world.rtt_ms(best, *to));
        }
        chosen.push(best);
    }
    chosen
}

/// Stands in for what cannot be reached, so that sums stay finite.
const FAR_MS: f64 = 1_000.0;

fn able(candidates: &[Candidate]) -> BTreeSet<CityId> {
    let mut counts: BTreeMap<CityId, usize> = BTreeMap::new();
    for candidate in candidates {
        *counts.entry(candidate.city).or_default() += 1;
    }
    counts
        .into_iter()
        .filter(|(_, count)| *count >= LEAST_CANDIDATES)
        .map(|(city, _)| city)
        .collect()
}

/// The busiest city of each country.
fn demand(candidates: &[Candidate]) -> Vec<CityId> {
    let mut counts: BTreeMap<Country, BTreeMap<CityId, usize>> = BTreeMap::new();
    for candidate in candidates {
        *counts.entry(candidate.country).or_default().entry(candidate.city).or_default() += 1;
    }
    let busiest =
        |cities: BTreeMap<CityId, usize>| cities.into_iter().max_by_key(|(_, count)| *count);
    counts.into_values().filter_map(busiest).map(|(city, _)| city).collect()
}
