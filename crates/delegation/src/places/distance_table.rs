//! Distance table: the places where subnets may be, the agents, and the distances between them.

use std::collections::HashMap;

use hierarchy::Country;
use model::AgentId;

use super::springs::Embedding;
use super::{AgentPlace, Position, listed_places};

/// Index of a place in a map.
pub(super) type PlaceIndex = usize;
/// Index of an agent in a map.
pub(super) type Column = usize;

/// An agent's home is a place of its own when no listed place of its country is nearer than this.
const OWN_PLACE_KM: f32 = 15.0;
/// Population for which the home of an agent counts.
const HOME_POPULATION: f32 = 1e6;
/// Power of the population to which the probability of a place is proportional: networks are spread
/// more evenly than people.
const POPULATION_POWER: f32 = 0.5;

/// Places and agents with their distances.
#[derive(Debug, Clone)]
pub(super) struct DistanceTable {
    /// Sorted; the index of an agent is its column.
    agents: Vec<AgentId>,
    places: Vec<MapPlace>,
    /// Kilometres, by place, then by column.
    km: Vec<f32>,
    /// Probability of each place where nothing is known of a subnet.
    anywhere: Vec<f32>,
    /// Probability of the places of each country, for its subnets.
    by_country: HashMap<Country, Vec<(PlaceIndex, f32)>>,
}

#[derive(Debug, Clone, Copy)]
struct MapPlace {
    /// No place of an embedding has one.
    position: Option<Position>,
    country: Option<Country>,
    population: f32,
}

impl DistanceTable {
    /// The listed places and the homes of the agents, which are sorted by agent.
    pub(super) fn of_globe(agents: &[AgentPlace]) -> Self {
        let mut places: Vec<MapPlace> = listed_places().into_iter().map(listed).collect();
        for agent in agents {
            let km = |place: &MapPlace| place.position.map(|at| at.distance_km(agent.position));
            let compatriots = places.iter().filter(|place| place.country == agent.country);
            let near = compatriots.filter_map(km).any(|km| km < OWN_PLACE_KM);
            if !near {
                let position = Some(agent.position);
                let country = agent.country;
                places.push(MapPlace { position, country, population: HOME_POPULATION });
            }
        }
        let mut km = Vec::with_capacity(places.len() * agents.len());
        for place in &places {
            let distance = |agent: &AgentPlace| {
                place.position.map_or(0.0, |at| at.distance_km(agent.position))
            };
            km.extend(agents.iter().map(distance));
        }
        Self::new(agents.iter().map(|agent| agent.agent).collect(), places, km)
    }

    /// Points that springs found from round trips between the agents.
    pub(super) fn of_embedding(agents: Vec<AgentId>, embedding: &Embedding) -> Self {
        let nowhere = MapPlace { position: None, country: None, population: 1.0 };
        let count = embedding.km.len() / agents.len().max(1);
        Self::new(agents, vec![nowhere; count], embedding.km.clone())
    }

    fn new(agents: Vec<AgentId>, places: Vec<MapPlace>, km: Vec<f32>) -> Self {
        let weights: Vec<f32> =
            places.iter().map(|place| place.population.powf(POPULATION_POWER)).collect();
        let total: f32 = weights.iter().sum();
        let anywhere = weights.iter().map(|weight| weight / total).collect();
        let mut by_country: HashMap<Country, Vec<(PlaceIndex, f32)>> = HashMap::new();
        for (index, place) in places.iter().enumerate() {
            if let Some(country) = place.country {
                by_country.entry(country).or_default().push((index, weights[index]));
            }
        }
        for places in by_country.values_mut() {
            let total: f32 = places.iter().map(|(_, weight)| weight).sum();
            for (_, weight) in places.iter_mut() {
                *weight /= total;
            }
        }
        Self { agents, places, km, anywhere, by_country }
    }

    /// Number of places.
    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    /// The agents, by column.
    pub(super) fn agents(&self) -> &[AgentId] {
        &self.agents
    }

    /// The column of an agent; `None` for one that is not on the map.
    pub(super) fn column(&self, agent: AgentId) -> Option<Column> {
        self.agents.binary_search(&agent).ok()
    }

    /// Distances of a place, by column.
    pub(super) fn km(&self, place: PlaceIndex) -> &[f32] {
        &self.km[place * self.agents.len()..(place + 1) * self.agents.len()]
    }

    pub(super) fn move_agent(&mut self, column: Column, to: Position) {
        let agents = self.agents.len();
        for (index, place) in self.places.iter().enumerate() {
            if let Some(at) = place.position {
                self.km[index * agents + column] = at.distance_km(to);
            }
        }
    }

    /// Positions of the places; none in a map of an embedding.
    pub(super) fn positions(&self) -> impl Iterator<Item = (PlaceIndex, Position)> + '_ {
        let places = self.places.iter().enumerate();
        places.filter_map(|(index, place)| Some((index, place.position?)))
    }

    /// Probability of each place where nothing is known of a subnet.
    pub(super) fn anywhere(&self) -> &[f32] {
        &self.anywhere
    }

    /// The places of a country with the probability of each.
    pub(super) fn places_of(&self, country: Country) -> &[(PlaceIndex, f32)] {
        self.by_country.get(&country).map_or(&[], Vec::as_slice)
    }
}

fn listed(place: super::ListedPlace) -> MapPlace {
    MapPlace {
        position: Some(place.position),
        country: Some(place.country),
        population: place.population,
    }
}
