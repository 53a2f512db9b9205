//! Anycast detection: subnets that answer near agents which are far from each other.
//!
//! The path from one agent over a subnet to another agent is never shorter than light in fibre
//! needs between the two, if the subnet is in one location.

use model::AgentId;

use super::distance_table::Column;
use super::{PlaceModel, travel_time};

/// Milliseconds that two agents must be apart to prove anything.
const APART_MS: f32 = 30.0;
/// Share of the time between two agents on a map of springs below which the path over the subnet
/// proves anycast: routes make detours.
const SHORTCUT: f32 = 0.6;

impl PlaceModel {
    /// Two agents that are both too near to a subnet for it to be in one location; `None` without
    /// such a pair. An anycast subnet is near to many agents, and balance may give it to any of
    /// them.
    pub fn detect_anycast(&self, times_ms: &[(AgentId, f64)]) -> Option<(AgentId, AgentId)> {
        let column = |(agent, ms): &(AgentId, f64)| Some((self.map.column(*agent)?, *ms as f32));
        let known: Vec<(Column, f32)> = times_ms.iter().filter_map(column).collect();
        for (index, (a, a_ms)) in known.iter().enumerate() {
            for (b, b_ms) in &known[index + 1..] {
                let apart_ms = self.least_between_ms(*a, *b);
                if apart_ms >= APART_MS && a_ms + b_ms < apart_ms {
                    return Some((self.map.agents()[*a], self.map.agents()[*b]));
                }
            }
        }
        None
    }

    /// The shortest time that is possible between two agents over any third place; nothing where
    /// the position of one is doubtful.
    fn least_between_ms(&self, a: Column, b: Column) -> f32 {
        if self.positions.is_empty() {
            // The first places of such a map are the homes of the agents, in their order.
            return SHORTCUT * travel_time::usual_ms(self.map.km(a)[b]);
        }
        if self.doubtful.contains(&a) || self.doubtful.contains(&b) {
            return 0.0;
        }
        travel_time::least_ms(self.positions[a].distance_km(self.positions[b]))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{AgentPlace, Position};
    use super::*;

    fn agent(id: i64, lat: f32, lon: f32, is_doubtful: bool) -> AgentPlace {
        let position = Position::new(lat, lon).unwrap();
        AgentPlace { agent: AgentId::new(id), position, country: None, is_doubtful }
    }

    fn times(times: [f64; 2]) -> [(AgentId, f64); 2] {
        [(AgentId::new(1), times[0]), (AgentId::new(2), times[1])]
    }

    #[test]
    fn a_subnet_next_to_two_distant_agents_is_anycast() {
        let agents = vec![agent(1, 52.5, 13.4, false), agent(2, 35.7, 139.7, false)];
        let model = PlaceModel::on_globe(agents);
        let both = Some((AgentId::new(1), AgentId::new(2)));
        assert_eq!(model.detect_anycast(&times([5.0, 9.0])), both);
        assert_eq!(model.detect_anycast(&times([5.0, 90.0])), None);
    }

    #[test]
    fn a_doubtful_agent_proves_nothing() {
        let agents = vec![agent(1, 52.5, 13.4, false), agent(2, 35.7, 139.7, true)];
        assert_eq!(PlaceModel::on_globe(agents).detect_anycast(&times([5.0, 9.0])), None);
    }
}
