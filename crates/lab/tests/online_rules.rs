//! Online rules on whole problems: no agent stays overloaded that could be relieved.
#![expect(clippy::unwrap_used, reason = "a broken fixture fails the test")]

use delegation::balance::{AgentCost, AssignmentProblem, Plan, Subnet, relieve};
use lab::run_online;
use model::BalanceRule;
use proptest::prelude::*;

type Rows = [(u64, Vec<Option<f64>>)];

/// `rows[s][a]` is the cost of subnet *s* at agent *a*; `None` where it may not go.
fn assignment_problem(capacities: &[u64], rows: &Rows) -> AssignmentProblem {
    let costs = |row: &[Option<f64>]| {
        let pairs = (0..).zip(row);
        pairs.filter_map(|(agent, cost)| Some(AgentCost::measured(agent, (*cost)?))).collect()
    };
    let subnets = rows.iter().map(|(load, row)| Subnet { load: *load, costs: costs(row) });
    AssignmentProblem::new(capacities.to_vec(), subnets.collect()).unwrap()
}

fn problems() -> impl Strategy<Value = AssignmentProblem> {
    (2_usize..5).prop_flat_map(|agents| {
        let row = prop::collection::vec(prop::option::weighted(0.9, 1.0..200.0), agents);
        let rows = prop::collection::vec((1_u64..4, row), 1..12);
        let capacities = prop::collection::vec(0_u64..12, agents);
        (capacities, rows).prop_map(|(capacities, rows)| assignment_problem(&capacities, &rows))
    })
}

fn placed(plan: &Plan) -> usize {
    plan.iter().flatten().count()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Whatever the rule, no agent is left over capacity while one of its subnets fits elsewhere.
    #[test]
    fn agents_are_relieved_where_that_is_possible(problem in problems(), rule in 0_usize..3) {
        let rule = BalanceRule::MOVING[rule];
        let run = run_online(&problem, rule);
        prop_assert!(run.best_moves <= run.moves);
        prop_assert_eq!(placed(&run.plan), placed(&problem.nearest()));
        let loads = problem.loads(&run.plan);
        let is_overloaded = |agent: &usize| loads[*agent] > problem.capacities()[*agent];
        for agent in (0..loads.len()).filter(is_overloaded) {
            let is_held = |subnet: &usize| run.plan[*subnet] == Some(agent);
            let held: Vec<usize> = (0..run.plan.len()).filter(is_held).collect();
            prop_assert!(relieve(&problem, &loads, agent, &held, rule).is_none());
        }
    }
}

/// Agent 2 finds no room at agent 1 until the last subnet has made agent 1 release one that was in
/// the way.
#[test]
fn an_agent_that_found_no_room_is_relieved_once_there_is_some() {
    let problem = assignment_problem(
        &[0, 4, 0, 11],
        &[
            (1, vec![None, Some(1.0), Some(2.0), None]),
            (3, vec![None, Some(1.0), None, Some(190.0)]),
            (1, vec![None, Some(55.0), Some(1.0), None]),
            (1, vec![None, Some(1.0), None, None]),
        ],
    );
    for rule in BalanceRule::MOVING {
        let run = run_online(&problem, rule);
        assert_eq!(run.plan, [Some(1), Some(3), Some(1), Some(1)], "{rule:?}");
        assert_eq!(run.moves, 2, "{rule:?}");
    }
}
