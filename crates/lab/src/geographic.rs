//! A world made from geography alone, for machines where no measurements are to be had.
//!
//! The round trip between two cities is light in fibre (200 km per millisecond) over a path longer
//! than the great circle, plus what routers and the last mile at both ends add:
//!
//! `rtt = 2 × km × inflation / 200 + last mile of a + last mile of b`
//!
//! Inflation is lognormal around 1.6 per pair (cables do not follow great circles; measured paths
//! between cities are commonly one and a half to two times as long), the last mile lognormal around
//! 1.5 ms per city.

use crate::{City, Noise, World, partial_matrix::PartialMatrix};

/// Name, country, degrees north and east of cities on every continent.
const CITIES: &str = include_str!("facts/cities.csv");
const FIBRE_KM_PER_MS: f64 = 200.0;
const MEDIAN_INFLATION: f64 = 1.6;
const INFLATION_SIGMA: f64 = 0.15;
const MEDIAN_LAST_MILE_MS: f64 = 1.5;
const LAST_MILE_SIGMA: f64 = 0.5;
/// One measurement deviates by this share of the round trip.
const JITTER_SHARE: f64 = 0.01;

impl World {
    /// The built-in world: about 220 cities in 130 countries; the same `seed` gives the same times.
    pub fn geographic(seed: u64) -> World {
        let noise = Noise::new(seed);
        let cities: Vec<City> = CITIES.lines().skip(1).filter_map(city).collect();
        let side = cities.len();
        let mut costs = PartialMatrix::new(side);
        let mut jitter_ms = vec![0.0; side * side];
        for a in 0..side {
            for b in 0..side {
                let rtt_ms = round_trip(noise, &cities, a.min(b), a.max(b));
                costs.set(a, b, rtt_ms);
                jitter_ms[a * side + b] = JITTER_SHARE * rtt_ms;
            }
        }
        World::from_partial(cities, &costs, jitter_ms)
    }
}

fn round_trip(noise: Noise, cities: &[City], a: usize, b: usize) -> f64 {
    let inflation = MEDIAN_INFLATION * noise.lognormal(INFLATION_SIGMA, &[a as u64, b as u64]);
    let path_km = cities[a].distance_km(&cities[b]) * inflation.max(1.0);
    2.0 * path_km / FIBRE_KM_PER_MS + last_mile(noise, a) + last_mile(noise, b)
}

fn last_mile(noise: Noise, city: usize) -> f64 {
    MEDIAN_LAST_MILE_MS * noise.lognormal(LAST_MILE_SIGMA, &[city as u64])
}

/// A line of the list. The list is ours and a test reads every line of it.
fn city(line: &str) -> Option<City> {
    let mut fields = line.split(',');
    let name = fields.next()?.to_owned();
    let country = fields.next()?.to_owned();
    let lat = fields.next()?.parse().ok()?;
    let lon = fields.next()?.parse().ok()?;
    Some(City { name, country, lat, lon })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::CityId;

    #[test]
    fn every_line_of_the_list_is_a_city() {
        let world = World::geographic(1);
        assert_eq!(world.cities().len(), CITIES.lines().count() - 1);
        let countries: HashSet<&str> =
            world.cities().iter().map(|city| city.country.as_str()).collect();
        assert!((120..=240).contains(&world.cities().len()) && countries.len() >= 40);
        for city in world.cities() {
            assert!(city.lat.abs() <= 90.0 && city.lon.abs() <= 180.0, "{}", city.name);
            assert!(city.country.len() == 2, "{}", city.name);
        }
    }

    #[test]
    fn near_is_near_and_far_is_far_and_no_light_is_outrun() {
        let world = World::geographic(1);
        let id = |name| world.find(name).unwrap();
        let near = world.rtt_ms(id("Nicosia"), id("Beirut"));
        let far = world.rtt_ms(id("Nicosia"), id("Auckland"));
        assert!((3.0..20.0).contains(&near) && (150.0..450.0).contains(&far), "{near} {far}");
        for (a, b) in (0..200).map(|n| (CityId::new(n), CityId::new((n * 7 + 3) % 200))) {
            let km = world.cities()[a.get()].distance_km(&world.cities()[b.get()]);
            assert!(world.rtt_ms(a, b) >= 2.0 * km / FIBRE_KM_PER_MS);
            assert!((world.rtt_ms(a, b) - world.rtt_ms(b, a)).abs() < 1e-9);
        }
    }

    #[test]
    fn a_seed_is_a_world() {
        let a = CityId::new(3);
        let b = CityId::new(90);
        let of = |seed| World::geographic(seed).rtt_ms(a, b).to_bits();
        assert_eq!(of(5), of(5));
        assert_ne!(of(5), of(6));
    }
}
