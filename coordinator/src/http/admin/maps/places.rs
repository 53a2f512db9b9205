//! Places of agents and countries on the globe.

use std::net::IpAddr;

use delegation::places::{Position, largest_place};
use hierarchy::Country;
use model::PlaceClaim;

use crate::runtime::delegated_hierarchy::DelegatedHierarchy;

/// Where a country is, for a map: its largest city. Most hosts of a country are near it, which the
/// middle of the area is not.
pub(super) fn of_country(country: Country) -> Option<Position> {
    largest_place(country).map(|place| place.position)
}

/// Where an agent is.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct AgentPlace {
    /// City, or country where nothing better is known.
    pub(super) name: Option<String>,
    /// Whether its owner said so.
    pub(super) is_claimed: bool,
    /// The point on the globe.
    pub(super) position: Option<Position>,
}

/// The place that the owner names, else the country of the home subnet.
pub(super) fn of_agent(
    claim: Option<&PlaceClaim>,
    home: IpAddr,
    delegated: Option<&DelegatedHierarchy>,
) -> AgentPlace {
    let claimed = claim.and_then(|claim| {
        let position = Position::new(claim.latitude() as f32, claim.longitude() as f32)?;
        Some((position, claim.city().or(claim.country()).map(str::to_owned)))
    });
    if let Some((position, name)) = claimed {
        return AgentPlace { name, is_claimed: true, position: Some(position) };
    }
    let country = delegated.and_then(|delegated| delegated.hierarchy().country_at(home));
    AgentPlace {
        name: country.map(|country| country.as_str().to_owned()),
        is_claimed: false,
        position: country.and_then(of_country),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_of_the_owner_counts_and_countries_are_at_their_largest_city() {
        let claim = PlaceClaim::new(35.17, 33.36, Some("Nicosia".into()), None).unwrap();
        let home = "192.0.2.1".parse().unwrap();
        let claimed = of_agent(Some(&claim), home, None);
        assert_eq!((claimed.name.as_deref(), claimed.is_claimed), (Some("Nicosia"), true));
        let unknown = of_agent(None, home, None);
        assert_eq!((unknown.name, unknown.position), (None, None));
        let tokyo = Position::new(35.7, 139.7).unwrap();
        let japan = of_country("JP".parse().unwrap()).unwrap();
        assert!(japan.distance_km(tokyo) < 100.0, "{japan:?}");
        assert_eq!(of_country("ZZ".parse().unwrap()), None);
    }
}
