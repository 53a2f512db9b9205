//! Where the agent is, as its owner writes it: a city of the list of places, or degrees.

use delegation::places::{CityError, city};
use hierarchy::Country;
use model::PlaceClaim;
use serde::Deserialize;

/// The table `[place]`: a city, or degrees with or without the name of a city.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PlaceTable {
    city: Option<String>,
    country: Option<String>,
    latitude: Option<f64>,
    longitude: Option<f64>,
}

/// The valid content of `[place]`.
#[derive(Deserialize)]
#[serde(try_from = "PlaceTable")]
pub(super) struct Place(pub(super) PlaceClaim);

impl TryFrom<PlaceTable> for Place {
    type Error = String;

    fn try_from(table: PlaceTable) -> Result<Self, String> {
        let PlaceTable { city: name, country, latitude, longitude } = table;
        let country = country.map(|code| parse_country(&code)).transpose()?;
        let code = country.map(|country| country.as_str().to_owned());
        let claim = match (latitude, longitude, name) {
            (Some(latitude), Some(longitude), name) => {
                PlaceClaim::new(latitude, longitude, name, code)
            }
            (None, None, Some(name)) => {
                let listed = city(&name, country).map_err(|error| advice(&name, &error))?;
                let (latitude, longitude) = listed.position.degrees();
                let country = Some(listed.country.as_str().to_owned());
                let name = Some(listed.name.to_owned());
                PlaceClaim::new(latitude.into(), longitude.into(), name, country)
            }
            (None, None, None) => {
                return Err("[place] needs `city`, or `latitude` and `longitude`".to_owned());
            }
            _ => return Err("[place] needs both `latitude` and `longitude`, or none".to_owned()),
        };
        claim.map(Self).map_err(|error| error.to_string())
    }
}

fn parse_country(code: &str) -> Result<Country, String> {
    code.parse().map_err(|_| format!("{code:?} is not a two-letter country code like \"CY\""))
}

fn advice(name: &str, error: &CityError) -> String {
    match error {
        CityError::Unknown => format!(
            "{name:?} is not in the list of cities: write a larger city nearby, or `latitude` and \
             `longitude` in degrees"
        ),
        CityError::InSeveralCountries(countries) => {
            let codes: Vec<&str> = countries.iter().map(Country::as_str).collect();
            format!("{name:?} is in several countries: add `country`, one of {}", codes.join(", "))
        }
    }
}
