//! The predictive strategy: agents in Lisbon, Frankfurt, New York and Tokyo, numbered from 1.

use delegation::places::{AgentClaim, MutualTimes, PlaceModel, city, map_agents, next_step};
use delegation::{Availability, AvailableAgents, ProbeOutcome, Search, Step, TrailProbe};
use model::{AgentId, Phase, Policy};

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
    let outcomes: Vec<_> = answers_ms.iter().map(|(agent, rtt)| (*agent, ms(*rtt))).collect();
    near_frankfurt(agents, &outcomes, (None, 0))
}

/// A time after which a search does not wait for agents that may not answer.
const DAY_MS: u64 = 86_400_000;

/// The next step for a subnet that is near Frankfurt, and that an agent has, some time after the
/// beginning of the search.
fn near_frankfurt(
    agents: &AvailableAgents,
    outcomes: &[(i64, ProbeOutcome)],
    (holder, waited_ms): (Option<AgentId>, u64),
) -> Step {
    let hierarchy = map::hierarchy(&[("20.9.9.0/24", None)]);
    let subnet = subnet(&hierarchy, "20.9.9.0/24");
    let probe = |(number, outcome): &(i64, ProbeOutcome)| TrailProbe {
        agent: agent(*number),
        phase: Phase::Predicted,
        outcome: *outcome,
    };
    let trail: Vec<TrailProbe> = outcomes.iter().map(probe).collect();
    let search = Search { subnet, trail: &trail, provisional: None, holder, waited_ms };
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

#[test]
fn an_agent_without_a_position_may_answer_while_it_has_many_probes() {
    let mut agents = map::ready(&[1, 2, 3, 4, 5]);
    agents.set(agent(5), Availability::Busy);
    let outcomes = [(2, ms(3)), (5, ProbeOutcome::Pending)];
    let step = near_frankfurt(&agents, &outcomes, (None, DAY_MS));
    assert_eq!(provisional(step), Some(agent(2)), "the search stays open");
}

#[test]
fn a_holder_that_is_never_asked_is_not_waited_for() {
    // Lisbon may be nearer, and its owner has paused it.
    let mut agents = map::ready(&[1, 2, 3, 4]);
    agents.set(agent(1), Availability::Idle);
    let far = near_frankfurt(&agents, &[(2, ms(60))], (Some(agent(4)), DAY_MS));
    assert_eq!(provisional(far), Some(agent(2)), "Tokyo is certainly farther");
    agents.set(agent(1), Availability::Asleep);
    let near = near_frankfurt(&agents, &[(2, ms(60))], (Some(agent(1)), DAY_MS));
    assert_eq!(near, Step::Wait, "Lisbon has it, and may be nearer");
}

fn provisional(step: Step) -> Option<AgentId> {
    match step {
        Step::Decide { agent, provisional: true, .. } => Some(agent),
        _ => None,
    }
}

fn ms(rtt: u32) -> ProbeOutcome {
    ProbeOutcome::Measured { rtt_us: rtt * 1000 }
}
