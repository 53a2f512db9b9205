//! Costs of the balance problem that the predictor fills in.

use delegation::balance::{
    AgentCost, AssignmentProblem, CostSource, Expectation, Subnet, agent_costs, relieve,
};
use delegation::{ProbeOutcome, Search, TrailProbe};
use model::{AgentId, BalanceRule, Phase};

use crate::map::{self, agent, subnet};
use crate::places::{agents, model};

/// Unknown costs of the balance are predicted, measured ones stay, and an agent that cannot
/// reach the subnet is left out.
#[test]
fn cells_are_measured_or_predicted() {
    let hierarchy = map::hierarchy(&[("20.9.9.0/24", Some("company"))]);
    let target = subnet(&hierarchy, "20.9.9.0/24");
    let asked =
        |number, outcome| TrailProbe { agent: agent(number), phase: Phase::Predicted, outcome };
    let measured = |ms: u32| ProbeOutcome::Measured { rtt_us: ms * 1000 };
    let trail =
        [asked(3, measured(95)), asked(2, measured(12)), asked(1, ProbeOutcome::Unreachable)];
    let search =
        Search { subnet: target, trail: &trail, provisional: None, holder: None, waited_ms: 0 };
    let model = model();
    let posterior = model.posterior_of(&hierarchy, &search);
    let agents = agents();
    let listed = agent_costs(Expectation::Predicted(&posterior), &trail, &agents, 10, 4, |_| true);
    let (measured, predicted): (Vec<AgentCost>, Vec<AgentCost>) =
        listed.iter().partition(|cell| cell.source == CostSource::Measured);
    assert_eq!(measured.iter().map(AgentCost::index).collect::<Vec<_>>(), [1, 2]);
    assert!((measured[1].cost - 950.0).abs() < 0.01);
    assert_eq!(
        predicted.iter().map(AgentCost::index).collect::<Vec<_>>(),
        [3],
        "not agent 1, who cannot reach it"
    );
    let tokyo_ms = predicted[0].cost / 10.0;
    assert!((140.0..300.0).contains(&tokyo_ms), "to the neighbour of Frankfurt: {tokyo_ms}");
    assert_eq!(agent_costs(Expectation::Unknown, &trail, &agents, 10, 4, |_| true).len(), 2);
    // Where the subnet is near to all, all others are listed, as near as those that measured.
    let detect_anycast = agent_costs(Expectation::Anycast, &trail, &agents, 10, 0, |_| true);
    let others: Vec<&AgentCost> =
        detect_anycast.iter().filter(|cell| cell.source == CostSource::Predicted).collect();
    assert_eq!(others.iter().map(|cell| cell.index()).collect::<Vec<_>>(), [3]);
    assert!((others[0].cost - measured[0].cost.max(measured[1].cost)).abs() < 1e-9);
}

/// An agent that cannot measure the subnet now takes no place of one that can.
#[test]
fn costs_are_predicted_of_agents_that_may_be_asked() {
    let hierarchy = map::hierarchy(&[("20.9.9.0/24", Some("company"))]);
    let measured = ProbeOutcome::Measured { rtt_us: 12_000 };
    let trail = [TrailProbe { agent: agent(2), phase: Phase::Predicted, outcome: measured }];
    let subnet = subnet(&hierarchy, "20.9.9.0/24");
    let search = Search { subnet, trail: &trail, provisional: None, holder: None, waited_ms: 0 };
    let model = model();
    let posterior = model.posterior_of(&hierarchy, &search);
    let agents = agents();
    let predicted = |expectation, away: &[AgentId]| -> Vec<usize> {
        let may_be_asked = |agent| !away.contains(&agent);
        let costs = agent_costs(expectation, &trail, &agents, 10, 1, may_be_asked);
        let predicted = costs.iter().filter(|cost| cost.source == CostSource::Predicted);
        predicted.map(AgentCost::index).collect()
    };
    let nearest = predicted(Expectation::Predicted(&posterior), &[]);
    let away = [agents[nearest[0]]];
    let next = predicted(Expectation::Predicted(&posterior), &away);
    assert_eq!(next.len(), 1, "the next one has the place");
    assert_ne!(next, nearest);
    assert!(!predicted(Expectation::Anycast, &away).contains(&nearest[0]));
    assert_eq!(predicted(Expectation::Anycast, &away).len(), agents.len() - 2);
}

/// A subnet goes to an agent that measured it, though another is expected to be nearer.
#[test]
fn the_papers_rule_moves_to_agents_that_measured() {
    let costs = vec![
        AgentCost::measured(0, 10.0),
        AgentCost::measured(1, 30.0),
        AgentCost::predicted(2, 20.0),
    ];
    let problem = AssignmentProblem::new(vec![0, 1, 1], vec![Subnet { load: 1, costs }]).unwrap();
    let made = relieve(&problem, &[1, 0, 0], 0, &[0], BalanceRule::Variance).unwrap();
    assert_eq!((made.to, made.source), (1, CostSource::Measured));
}
