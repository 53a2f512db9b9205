//! The predictive strategy: agents in Lisbon, Frankfurt, New York and Tokyo, numbered from 1.

use delegation::places::{AgentClaim, MutualTimes, PlaceModel, city, map_agents, next_step};
use delegation::{Availability, AvailableAgents, Policy, ProbeOutcome, Search, Step, TrailProbe};
use model::{AgentId, Phase};

use crate::map::{self, agent, subnet};

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

/// The next step for a subnet that is near Frankfurt, where these agents answered.
fn step_near_frankfurt(agents: &AvailableAgents, answers_ms: &[(i64, u32)]) -> Step {
    let hierarchy = map::hierarchy(&[("20.9.9.0/24", None)]);
    let subnet = subnet(&hierarchy, "20.9.9.0/24");
    let answered = |(number, ms): &(i64, u32)| {
        let outcome = ProbeOutcome::Measured { rtt_us: ms * 1000 };
        TrailProbe { agent: agent(*number), phase: Phase::Predicted, outcome }
    };
    let trail: Vec<TrailProbe> = answers_ms.iter().map(answered).collect();
    let search = Search { subnet, trail: &trail, provisional: None, holder: None, waited_ms: 0 };
    next_step(&hierarchy, agents, &Policy::default(), &model(), &search).0
}

#[test]
fn an_agent_without_a_position_is_asked_before_a_search_is_over() {
    let nearest = |step| match step {
        Step::Decide { agent, provisional: false, .. } => agent,
        other => panic!("{other:?}"),
    };
    let mut agents = map::ready(&[1, 2, 3, 4, 5]);
    let Step::Ask(asked) = step_near_frankfurt(&agents, &[(2, 3)]) else { panic!("not asked") };
    assert_eq!(asked.agent, agent(5));
    assert_eq!(nearest(step_near_frankfurt(&agents, &[(2, 3), (5, 1)])), agent(5));
    assert_eq!(nearest(step_near_frankfurt(&agents, &[(2, 3), (5, 80)])), agent(2));
    agents.set(agent(5), Availability::Asleep);
    assert_eq!(nearest(step_near_frankfurt(&agents, &[(2, 3)])), agent(2), "it is not waited for");
}
