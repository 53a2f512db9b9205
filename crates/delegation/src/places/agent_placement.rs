//! Placement of agents: whether they are where they say, found out by a few mutual measurements.
//!
//! Each agent measures its nearest neighbour by claimed positions. The odds that it is elsewhere
//! follow from all of its times ([`super::claim_test`]). Until the times speak for the claim, the
//! agent measures one more at a time: the one whose round trip tells best between the claim and the
//! likeliest other place. An agent whose round trips are too short for its claim, by the speed of
//! light, is placed there. The function says which measurements are missing, so that it can be
//! called again with each new one.

use model::AgentId;

use super::claim_test::{OtherPlaces, TestedClaim, TimeToAgent, UNTESTED};
use super::{MutualTimes, Position, travel_time};

/// Where the agents are, as far as it was measured.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct AgentPlacement {
    /// In the order of the claims: the position, and whether the claim is doubtful.
    pub(super) positions: Vec<(Position, bool)>,
    /// Pairs to be measured next; empty at the end.
    pub(super) missing: Vec<(AgentId, AgentId)>,
}

/// Odds of a wrong claim up to which it is accepted.
const ACCEPTED: f32 = UNTESTED;
/// Odds from which a refuted claim is replaced.
const REPLACED: f32 = 1.0;
/// Pairs of one agent after which no more are asked for.
const MOST_PAIRS: usize = 9;
/// Passes over all agents. How far one pass believes an agent decides how much the times of others
/// to it count in the next.
const PASSES: usize = 3;
/// Worth of an agent whose own claim is not accepted, as a witness.
const UNCERTAIN_WITNESS: f32 = 0.5;

/// An agent's claim with what its times say of it.
#[derive(Debug, Clone, Copy)]
struct PlacedAgent {
    agent: AgentId,
    claim: Position,
    tested: Option<TestedClaim>,
}

impl PlacedAgent {
    fn is_accepted(&self) -> bool {
        self.tested.is_some_and(|tested| tested.odds <= ACCEPTED)
    }

    /// The place that its times show, if they refute the claim.
    fn replacement(&self) -> Option<Position> {
        let refuted = self.tested.filter(|tested| tested.is_refuted && tested.odds > REPLACED);
        refuted.map(|tested| tested.elsewhere)
    }

    fn position(&self) -> Position {
        self.replacement().unwrap_or(self.claim)
    }
}

/// Places the agents by their claims and mutual times. `claims` are sorted by agent.
pub(super) fn place_agents(claims: &[(AgentId, Position)], times: &MutualTimes) -> AgentPlacement {
    let mut missing = times.unmeasured(nearest_pairs(claims));
    let untested = |(agent, claim): &(AgentId, Position)| PlacedAgent {
        agent: *agent,
        claim: *claim,
        tested: None,
    };
    let mut placed: Vec<PlacedAgent> = claims.iter().map(untested).collect();
    if missing.is_empty() {
        test_claims(&mut placed, times);
        let in_doubt = placed.iter().filter(|one| !one.is_accepted());
        missing = times.unmeasured(in_doubt.filter_map(|one| next_pair(one, &placed, times)));
    }
    let position = |one: &PlacedAgent| (one.position(), one.replacement().is_some());
    AgentPlacement { positions: placed.iter().map(position).collect(), missing }
}

/// Each agent with its nearest neighbour.
fn nearest_pairs(claims: &[(AgentId, Position)]) -> impl Iterator<Item = (AgentId, AgentId)> {
    claims.iter().filter_map(|(agent, position)| {
        let others = claims.iter().filter(|other| other.0 != *agent);
        let km = |other: &&(AgentId, Position)| other.1.distance_km(*position);
        let nearest = others.min_by(|a, b| km(a).total_cmp(&km(b)))?;
        Some((*agent, nearest.0))
    })
}

/// Tests all claims, each with the present weights of the other agents.
fn test_claims(placed: &mut [PlacedAgent], times: &MutualTimes) {
    let listed = OtherPlaces::listed();
    for _ in 0..PASSES {
        let before = placed.to_vec();
        for one in placed.iter_mut() {
            let time = |other: &PlacedAgent| {
                let ms = times.ms(one.agent, other.agent)?;
                let from = other.position();
                Some(TimeToAgent { from, ms, is_certain: other.is_accepted() })
            };
            let others = before.iter().filter(|other| other.agent != one.agent);
            let known: Vec<TimeToAgent> = others.filter_map(time).collect();
            one.tested = Some(listed.test(one.claim, &known));
        }
    }
}

/// The pair that tells best whether an agent is where it claims; `None` when enough were measured.
fn next_pair(
    one: &PlacedAgent,
    placed: &[PlacedAgent],
    times: &MutualTimes,
) -> Option<(AgentId, AgentId)> {
    let elsewhere = one.tested?.elsewhere;
    let others = || placed.iter().filter(|other| other.agent != one.agent);
    let measured = others().filter(|other| times.has(one.agent, other.agent)).count();
    if measured >= MOST_PAIRS {
        return None;
    }
    // A witness tells more if its times to the claim and to the other place differ more.
    let worth = |witness: &PlacedAgent| {
        let certainty = if witness.is_accepted() { 1.0 } else { UNCERTAIN_WITNESS };
        certainty * deviations_between(one.claim, elsewhere, witness.position())
    };
    let free = others().filter(|other| !times.has(one.agent, other.agent));
    let best = free.max_by(|a, b| worth(a).total_cmp(&worth(b)).then(b.agent.cmp(&a.agent)))?;
    Some((one.agent, best.agent))
}

/// Standard deviations by which the times from a witness to two positions differ.
fn deviations_between(a: Position, b: Position, witness: Position) -> f32 {
    let km_a = a.distance_km(witness);
    let km_b = b.distance_km(witness);
    let apart = travel_time::usual_ms(km_a).ln() - travel_time::usual_ms(km_b).ln();
    apart.abs() / (travel_time::variance(km_a) + travel_time::variance(km_b)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::super::listed_places;
    use super::*;

    /// Access lines of both ends of a round trip, in milliseconds.
    const ACCESS_MS: f32 = 3.0;

    /// Cities with the milliseconds that the map gives between them.
    fn cities() -> Vec<(AgentId, Position)> {
        let wanted = [
            "Berlin",
            "Warsaw",
            "Madrid",
            "New York City",
            "Tokyo",
            "Sydney",
            "São Paulo",
            "Delhi",
        ];
        let listed = listed_places();
        let at = |name: &str| listed.iter().find(|place| place.name == name).unwrap().position;
        wanted.iter().zip(1..).map(|(name, id)| (AgentId::new(id), at(name))).collect()
    }

    fn run(
        claims: &[(AgentId, Position)],
        truth: &[(AgentId, Position)],
    ) -> (AgentPlacement, MutualTimes) {
        let mut times = MutualTimes::default();
        loop {
            let placement = place_agents(claims, &times);
            if placement.missing.is_empty() {
                return (placement, times);
            }
            for (a, b) in &placement.missing {
                let at = |id: &AgentId| truth.iter().find(|agent| agent.0 == *id).unwrap().1;
                let km = at(a).distance_km(at(b));
                times.insert(*a, *b, Some(travel_time::usual_ms(km) + ACCESS_MS));
            }
        }
    }

    #[test]
    fn true_claims_stay_and_cost_few_probes() {
        let cities = cities();
        let (placement, times) = run(&cities, &cities);
        assert!(placement.positions.iter().all(|(_, is_doubtful)| !is_doubtful));
        assert!(times.len() <= 4 * cities.len(), "{}", times.len());
    }

    #[test]
    fn a_wrong_claim_is_refuted_and_replaced() {
        let truth = cities();
        let mut claims = truth.clone();
        claims[1].1 = Position::new(-41.3, 174.8).unwrap();
        let (placement, _) = run(&claims, &truth);
        let (position, is_doubtful) = placement.positions[1];
        assert!(is_doubtful && position.distance_km(truth[1].1) < 700.0, "{position:?}");
        let others = placement.positions.iter().enumerate().filter(|(index, _)| *index != 1);
        assert!(others.into_iter().all(|(_, (_, is_doubtful))| !is_doubtful), "{placement:?}");
    }

    #[test]
    fn unanswered_pairs_are_not_asked_for_again() {
        let claims = cities();
        let mut times = MutualTimes::default();
        for _ in 0..10 {
            for (a, b) in place_agents(&claims, &times).missing {
                times.insert(a, b, None);
            }
        }
        assert!(place_agents(&claims, &times).missing.is_empty());
    }
}
