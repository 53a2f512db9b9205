//! Agent map: where all agents are, by their claims and by what they measured of each other.
//!
//! It is a globe if at least half of the agents have a position, and else a map that springs find
//! from round trips. There is none while too little is known.

use hierarchy::Country;
use model::AgentId;

use super::springs::{Embedding, embed, pairs_to_measure};
use super::{AgentPlace, MutualTimes, PlaceModel, Position, agent_placement};

/// What is known of an agent's place without measurements.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AgentClaim {
    pub agent: AgentId,
    /// Where it probably is.
    pub position: Option<Position>,
    /// Whether its owner says so. A position that only follows from a country is doubtful.
    pub is_by_owner: bool,
    /// Country of its home subnet.
    pub country: Option<Country>,
}

/// Where the agents are.
#[derive(Debug, Clone, PartialEq)]
pub enum AgentMap {
    /// Agents with positions.
    Globe(Vec<AgentPlace>),
    /// Agents, sorted, that only measured each other.
    Springs(Vec<AgentId>, Embedding),
}

impl AgentMap {
    /// The model before the first search.
    pub fn into_model(self) -> PlaceModel {
        match self {
            Self::Globe(agents) => PlaceModel::on_globe(agents),
            Self::Springs(agents, embedding) => PlaceModel::on_embedding(agents, &embedding),
        }
    }
}

/// The map as far as it is known, with what should be measured to know more.
#[derive(Debug, Clone, PartialEq)]
pub struct MappedAgents {
    /// None while nothing is known of the agents.
    pub map: Option<AgentMap>,
    /// Pairs to be measured next; empty at the end.
    pub missing: Vec<(AgentId, AgentId)>,
}

/// Pairs with a time that an agent must have to be on a map of springs: with fewer its point says
/// nothing.
const MIN_SPRINGS: usize = 3;

/// Maps the agents; `claims` are sorted by agent.
pub fn map_agents(claims: &[AgentClaim], times: &MutualTimes) -> MappedAgents {
    let positioned: Vec<(AgentClaim, Position)> =
        claims.iter().filter_map(|claim| Some((*claim, claim.position?))).collect();
    if positioned.is_empty() || 2 * positioned.len() < claims.len() {
        return map_by_springs(claims, times);
    }
    let positions: Vec<_> = positioned.iter().map(|(claim, at)| (claim.agent, *at)).collect();
    let placement = agent_placement::place_agents(&positions, times);
    let place = |((claim, _), (position, is_doubtful)): (&(AgentClaim, _), (Position, bool))| {
        let AgentClaim { agent, country, is_by_owner, .. } = *claim;
        AgentPlace { agent, position, country, is_doubtful: is_doubtful || !is_by_owner }
    };
    let places = positioned.iter().zip(placement.positions).map(place).collect();
    MappedAgents { map: Some(AgentMap::Globe(places)), missing: placement.missing }
}

fn map_by_springs(claims: &[AgentClaim], times: &MutualTimes) -> MappedAgents {
    let agents: Vec<AgentId> = claims.iter().map(|claim| claim.agent).collect();
    let missing = pairs_to_measure(&agents, times);
    let enough = MIN_SPRINGS.min(agents.len().saturating_sub(1));
    let springs = |agent: &AgentId| {
        agents.iter().filter(|other| *other != agent && times.ms(*agent, **other).is_some()).count()
    };
    let mut known: Vec<AgentId> = Vec::new();
    if enough > 0 {
        known.extend(agents.iter().copied().filter(|agent| springs(agent) >= enough));
    }
    let map = (2 * known.len() >= agents.len() && !known.is_empty()).then(|| {
        let embedding = embed(&known, times);
        AgentMap::Springs(known, embedding)
    });
    MappedAgents { map, missing }
}

#[cfg(test)]
mod tests {
    use super::super::travel_time::usual_ms;
    use super::*;

    fn claim(agent: i64, position: Option<(f32, f32)>, is_by_owner: bool) -> AgentClaim {
        let position = position.map(|(lat, lon)| Position::new(lat, lon).unwrap());
        AgentClaim { agent: AgentId::new(agent), position, is_by_owner, country: None }
    }

    #[test]
    fn without_positions_agents_are_mapped_once_they_have_measured_each_other() {
        let claims: Vec<AgentClaim> = (1..=3).map(|agent| claim(agent, None, false)).collect();
        let mut times = MutualTimes::default();
        let before = map_agents(&claims, &times);
        assert_eq!(before.map, None);
        assert_eq!(before.missing.len(), 3);
        for (a, b) in before.missing {
            times.insert(a, b, Some(40.0));
        }
        let after = map_agents(&claims, &times);
        assert!(matches!(after.map, Some(AgentMap::Springs(agents, _)) if agents.len() == 3));
        assert_eq!(after.missing, []);
    }

    #[test]
    fn a_position_that_nobody_claimed_is_doubtful_even_where_it_is_confirmed() {
        let claims = [claim(1, Some((50.0, 8.0)), true), claim(2, Some((51.0, 8.0)), false)];
        let mut times = MutualTimes::default();
        times.insert(AgentId::new(1), AgentId::new(2), Some(usual_ms(111.0) + 3.0));
        let mapped = map_agents(&claims, &times);
        let Some(AgentMap::Globe(places)) = mapped.map else { panic!("a globe") };
        let doubtful: Vec<bool> = places.iter().map(|place| place.is_doubtful).collect();
        assert_eq!(doubtful, [false, true]);
        assert_eq!(mapped.missing, []);
    }

    #[test]
    fn a_single_agent_without_a_position_is_nowhere() {
        let mapped = map_agents(&[claim(1, None, false)], &MutualTimes::default());
        assert_eq!(mapped, MappedAgents { map: None, missing: vec![] });
    }
}
