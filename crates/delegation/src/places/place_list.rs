//! List of populated places, where subnets may be before anything was measured.

use std::collections::HashMap;
use std::sync::LazyLock;

use hierarchy::Country;

use super::Position;

/// Derived from GeoNames (CC BY 4.0); `places/README.md` says how.
const LIST: &str = include_str!("../../places/places.csv");

/// A populated place with everything around it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ListedPlace {
    pub country: Country,
    pub position: Position,
    /// Inhabitants of the place and of smaller ones around it.
    pub population: f32,
    pub name: &'static str,
}

pub fn listed_places() -> Vec<ListedPlace> {
    LIST.lines().skip(1).filter_map(place).collect()
}

/// The most populated place of each country.
static LARGEST: LazyLock<HashMap<Country, ListedPlace>> = LazyLock::new(|| {
    let mut largest: HashMap<Country, ListedPlace> = HashMap::new();
    for place in listed_places() {
        let known = largest.entry(place.country).or_insert(place);
        if place.population > known.population {
            *known = place;
        }
    }
    largest
});

/// The most populated place of a country.
pub fn largest_place(country: Country) -> Option<&'static ListedPlace> {
    LARGEST.get(&country)
}

/// A city that cannot be found in the list by its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CityError {
    /// No place of the list has this name.
    Unknown,
    /// Places in these countries have it.
    InSeveralCountries(Vec<Country>),
}

/// The place with this name, regardless of case, in this country if one is given; of several in one
/// country the largest.
pub fn city(name: &str, country: Option<Country>) -> Result<ListedPlace, CityError> {
    let wanted = name.trim().to_lowercase();
    let mut found: Vec<ListedPlace> = listed_places()
        .into_iter()
        .filter(|place| place.name.to_lowercase() == wanted)
        .filter(|place| country.is_none_or(|country| country == place.country))
        .collect();
    found.sort_by(|a, b| b.population.total_cmp(&a.population));
    let mut countries: Vec<Country> = found.iter().map(|place| place.country).collect();
    countries.sort_unstable();
    countries.dedup();
    match countries.len() {
        0 => Err(CityError::Unknown),
        1 => found.into_iter().next().ok_or(CityError::Unknown),
        _ => Err(CityError::InSeveralCountries(countries)),
    }
}

/// A line of the list. The list is ours and a test reads every line of it.
fn place(line: &'static str) -> Option<ListedPlace> {
    let mut fields = line.split(',');
    let country = fields.next()?.parse().ok()?;
    let lat = fields.next()?.parse().ok()?;
    let lon = fields.next()?.parse().ok()?;
    let population = fields.next()?.parse().ok()?;
    let name = fields.next()?;
    Some(ListedPlace { country, position: Position::new(lat, lon)?, population, name })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_a_place() {
        let places = listed_places();
        assert_eq!(places.len(), LIST.lines().count() - 1);
        let nicosia = places.iter().find(|place| place.country.as_str() == "CY").unwrap();
        let athens = places.iter().find(|place| place.name == "Athens").unwrap();
        let km = nicosia.position.distance_km(athens.position);
        assert!((800.0..1_000.0).contains(&km), "{km}");
    }

    #[test]
    fn cities_are_found_by_name_and_country() {
        let cyprus = "CY".parse().unwrap();
        assert_eq!(city(" nicosia", None).unwrap().country, cyprus);
        assert_eq!(city("Nicosia", Some("GR".parse().unwrap())), Err(CityError::Unknown));
        assert_eq!(city("Atlantis", None), Err(CityError::Unknown));
        let mut by_name: Vec<ListedPlace> = listed_places();
        by_name.sort_by(|a, b| a.name.cmp(b.name));
        let mut pairs = by_name.windows(2);
        let pair = pairs.find(|pair| pair[0].name == pair[1].name).unwrap();
        let name = pair[0].name;
        if pair[0].country != pair[1].country {
            let Err(CityError::InSeveralCountries(countries)) = city(name, None) else {
                panic!("{name} is in several countries")
            };
            assert!(countries.contains(&pair[0].country));
        }
        assert_eq!(city(name, Some(pair[0].country)).unwrap().country, pair[0].country);
    }
}
