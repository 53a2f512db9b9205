//! Where an agent is, as its owner says.

use serde::{Deserialize, Serialize};

/// Where an agent is according to its owner, to the precision of a city. Measurements confirm it or
/// show that it is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "ClaimFields")]
pub struct PlaceClaim {
    latitude_mdeg: i32,
    longitude_mdeg: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    city: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    country: Option<String>,
}

/// The claim as JSON has it, before it is checked.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ClaimFields {
    /// Thousandths of a degree north.
    latitude_mdeg: i32,
    /// Thousandths of a degree east.
    longitude_mdeg: i32,
    city: Option<String>,
    country: Option<String>,
}

/// A claim that no place on Earth fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PlaceClaimError {
    /// Not a point on the globe.
    #[error("the latitude must be from -90 to 90 degrees, the longitude from -180 to 180")]
    OffTheGlobe,
    /// Not a name.
    #[error("the city must have 1 to {MOST_CHARS} characters and no control characters")]
    City,
    /// Not a country code.
    #[error("the country must be a two-letter code in upper case, like \"CY\"")]
    Country,
}

/// Longest name of a city, in characters.
const MOST_CHARS: usize = 100;
/// Thousandths in a degree.
const THOUSANDTHS: f64 = 1000.0;

impl PlaceClaim {
    /// A claim in degrees north and east.
    pub fn new(
        latitude: f64,
        longitude: f64,
        city: Option<String>,
        country: Option<String>,
    ) -> Result<Self, PlaceClaimError> {
        // Out of range and NaN become a value that the check refuses.
        let thousandths = |degrees: f64| {
            let is_angle = degrees.abs() <= 180.0;
            if is_angle { (degrees * THOUSANDTHS).round() as i32 } else { i32::MAX }
        };
        ClaimFields {
            latitude_mdeg: thousandths(latitude),
            longitude_mdeg: thousandths(longitude),
            city,
            country,
        }
        .try_into()
    }

    /// Degrees north of the equator.
    pub fn latitude(&self) -> f64 {
        f64::from(self.latitude_mdeg) / THOUSANDTHS
    }

    /// Degrees east of Greenwich.
    pub fn longitude(&self) -> f64 {
        f64::from(self.longitude_mdeg) / THOUSANDTHS
    }

    /// Thousandths of a degree north.
    pub fn latitude_mdeg(&self) -> i32 {
        self.latitude_mdeg
    }

    /// Thousandths of a degree east.
    pub fn longitude_mdeg(&self) -> i32 {
        self.longitude_mdeg
    }

    /// Name of the city, if the owner gave one.
    pub fn city(&self) -> Option<&str> {
        self.city.as_deref()
    }

    /// Two-letter code of the country, if it is known.
    pub fn country(&self) -> Option<&str> {
        self.country.as_deref()
    }
}

impl TryFrom<ClaimFields> for PlaceClaim {
    type Error = PlaceClaimError;

    fn try_from(fields: ClaimFields) -> Result<Self, PlaceClaimError> {
        let ClaimFields { latitude_mdeg, longitude_mdeg, city, country } = fields;
        let is_on_globe =
            latitude_mdeg.unsigned_abs() <= 90_000 && longitude_mdeg.unsigned_abs() <= 180_000;
        if !is_on_globe {
            return Err(PlaceClaimError::OffTheGlobe);
        }
        let is_name = |name: &String| {
            let length = name.chars().count();
            (1..=MOST_CHARS).contains(&length) && !name.chars().any(char::is_control)
        };
        if !city.iter().all(is_name) {
            return Err(PlaceClaimError::City);
        }
        let is_code =
            |code: &String| code.len() == 2 && code.bytes().all(|b| b.is_ascii_uppercase());
        if !country.iter().all(is_code) {
            return Err(PlaceClaimError::Country);
        }
        Ok(Self { latitude_mdeg, longitude_mdeg, city, country })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn degrees_are_kept_to_a_thousandth() {
        let claim = PlaceClaim::new(35.1735, -33.36, Some("Nicosia".into()), None).unwrap();
        assert_eq!((claim.latitude_mdeg(), claim.longitude_mdeg()), (35_174, -33_360));
        assert!((claim.latitude() - 35.174).abs() < 1e-9);
        assert_eq!((claim.city(), claim.country()), (Some("Nicosia"), None));
    }

    #[test]
    fn what_is_no_place_is_refused() {
        let new = |lat, lon, city: &str, country: &str| {
            PlaceClaim::new(lat, lon, Some(city.into()), Some(country.into()))
        };
        assert_eq!(new(90.1, 0.0, "a", "CY"), Err(PlaceClaimError::OffTheGlobe));
        assert_eq!(new(f64::NAN, 0.0, "a", "CY"), Err(PlaceClaimError::OffTheGlobe));
        assert_eq!(new(1e30, 0.0, "a", "CY"), Err(PlaceClaimError::OffTheGlobe));
        assert_eq!(new(0.0, 0.0, "", "CY"), Err(PlaceClaimError::City));
        assert_eq!(new(0.0, 0.0, "a\nb", "CY"), Err(PlaceClaimError::City));
        assert_eq!(new(0.0, 0.0, "a", "cy"), Err(PlaceClaimError::Country));
        let read: Result<PlaceClaim, _> =
            serde_json::from_str(r#"{"latitude_mdeg":90001,"longitude_mdeg":0}"#);
        assert!(read.unwrap_err().to_string().contains("latitude"));
    }
}
