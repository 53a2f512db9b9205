//! What locality saves: the round trips of fetches by the present delegations, and the round trips
//! if hosts were assigned to agents at random.
//!
//! The first is measured. Of the second each agent's own hosts are measured from it alone, so the
//! time from another agent is estimated: its usual time to the agent that crawls the host, and that
//! agent's measured time to the host, as the two sides of a right angle. In the mean over all
//! directions in which a host may lie from its agent, the square of its distance from the other
//! agent is the sum of the two squares.

use super::Position;
use super::travel_time::usual_ms;

/// Fetches of one agent, with its place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FetchCost {
    /// Where the agent is.
    pub position: Position,
    pub fetches: u64,
    /// Mean round trip to their hosts, in milliseconds.
    pub mean_ms: f32,
}

/// Round trips of fetches, one for each fetch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RoundTripSums {
    /// By the present delegations, in seconds.
    pub spent_s: f64,
    /// If each host had a random one of the agents, in seconds.
    pub random_s: f64,
}

/// The sums over the fetches of all agents; none without fetches or with a single agent.
pub fn round_trip_sums(agents: &[FetchCost]) -> Option<RoundTripSums> {
    let fetching: Vec<&FetchCost> = agents.iter().filter(|agent| agent.fetches > 0).collect();
    if agents.len() < 2 || fetching.is_empty() {
        return None;
    }
    let mut spent_ms = 0.0;
    let mut random_ms = 0.0;
    for own in &fetching {
        let fetches = own.fetches as f64;
        spent_ms += fetches * f64::from(own.mean_ms);
        random_ms += fetches * mean_over_all_ms(own, agents);
    }
    Some(RoundTripSums { spent_s: spent_ms / 1_000.0, random_s: random_ms / 1_000.0 })
}

/// Mean time from all agents to the hosts of one of them.
fn mean_over_all_ms(own: &FetchCost, agents: &[FetchCost]) -> f64 {
    let mut sum = 0.0;
    for agent in agents {
        let km = agent.position.distance_km(own.position);
        // Two agents in one place, or the agent itself: its hosts are as far as they were measured.
        let between = if km < NEXT_DOOR_KM { 0.0 } else { usual_ms(km) };
        sum += f64::from(between.hypot(own.mean_ms));
    }
    sum / agents.len() as f64
}

/// Distance below which agents count as in one place.
const NEXT_DOOR_KM: f32 = 1.0;

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(lat: f32, lon: f32, fetches: u64, mean_ms: f32) -> FetchCost {
        FetchCost { position: Position::new(lat, lon).unwrap(), fetches, mean_ms }
    }

    #[test]
    fn agents_in_one_place_save_nothing() {
        let sums = round_trip_sums(&[cost(35.0, 33.0, 10, 8.0), cost(35.0, 33.0, 30, 8.0)]);
        let sums = sums.unwrap();
        assert!((sums.spent_s - 0.32).abs() < 1e-6, "{sums:?}");
        assert!((sums.random_s - sums.spent_s).abs() < 1e-6, "{sums:?}");
    }

    #[test]
    fn near_hosts_of_distant_agents_save_most() {
        // Nicosia and New York, each with hosts at 10 ms.
        let near = round_trip_sums(&[cost(35.2, 33.4, 50, 10.0), cost(40.7, -74.0, 50, 10.0)]);
        let near = near.unwrap();
        assert!((near.spent_s - 1.0).abs() < 1e-6, "{near:?}");
        let times = near.random_s / near.spent_s;
        assert!((4.0..12.0).contains(&times), "{times}");
        let far = round_trip_sums(&[cost(35.2, 33.4, 50, 100.0), cost(40.7, -74.0, 50, 100.0)]);
        let far = far.unwrap();
        assert!(far.random_s / far.spent_s < times, "distant hosts save less");
    }

    #[test]
    fn nothing_is_claimed_without_a_choice_or_fetches() {
        assert_eq!(round_trip_sums(&[cost(0.0, 0.0, 5, 1.0)]), None);
        assert_eq!(round_trip_sums(&[cost(0.0, 0.0, 0, 0.0), cost(9.0, 9.0, 0, 0.0)]), None);
    }
}
