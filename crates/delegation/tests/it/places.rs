//! The predictive strategy: agents in Lisbon, Frankfurt, New York and Tokyo, numbered from 1.

use delegation::places::{AgentClaim, MutualTimes, PlaceModel, city, map_agents};
use model::AgentId;

use crate::map::agent;

pub(crate) const CITIES: [&str; 4] = ["Lisbon", "Frankfurt am Main", "New York City", "Tokyo"];

pub(crate) fn agents() -> Vec<AgentId> {
    (1_i64..).zip(CITIES).map(|(number, _)| agent(number)).collect()
}

/// The model before the first search.
pub(crate) fn model() -> PlaceModel {
    let claim = |(number, name): (i64, &str)| {
        let place = city(name, None).unwrap();
        AgentClaim {
            agent: agent(number),
            position: Some(place.position),
            is_by_owner: true,
            country: Some(place.country),
        }
    };
    let claims: Vec<AgentClaim> = (1..).zip(CITIES).map(claim).collect();
    map_agents(&claims, &MutualTimes::default()).map.unwrap().into_model()
}
