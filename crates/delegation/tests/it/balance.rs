//! Balance against brute force, against an independent solver of linear programs, and by
//! properties.

use delegation::balance::{
    AgentCost, AssignmentProblem, CostSource, InvalidProblem, Plan, RebalanceLimits, RefusalReason,
    Subnet, optimal, rebalance, relieve,
};
use microlp::{ComparisonOp, OptimizationDirection, Problem};
use model::BalanceRule;
use proptest::prelude::*;

/// `rows[s][a]` is the cost of subnet *s* at agent *a*; `None` where it may not go.
fn assignment_problem(capacities: &[u64], rows: &[(u64, Vec<Option<f64>>)]) -> AssignmentProblem {
    let subnets = rows.iter().map(|(load, row)| Subnet {
        load: *load,
        costs: (0..)
            .zip(row)
            .filter_map(|(agent, cost)| Some(AgentCost::measured(agent, (*cost)?)))
            .collect(),
    });
    AssignmentProblem::new(capacities.to_vec(), subnets.collect()).unwrap()
}

fn problems(
    loads: std::ops::Range<u64>,
    subnets: usize,
) -> impl Strategy<Value = AssignmentProblem> {
    (2_usize..5).prop_flat_map(move |agents| {
        let row = prop::collection::vec(prop::option::weighted(0.9, 1.0..200.0), agents);
        let rows = prop::collection::vec((loads.clone(), row), 1..subnets);
        let capacities = prop::collection::vec(0_u64..(3 * loads.end), agents);
        (capacities, rows).prop_map(|(capacities, rows)| assignment_problem(&capacities, &rows))
    })
}

/// The cheapest of all plans that place as many subnets as can be placed.
fn brute_force(problem: &AssignmentProblem, subnet: usize, room: &mut [u64]) -> (usize, f64) {
    let Some(next) = problem.subnets().get(subnet) else { return (0, 0.0) };
    let (missing, cost) = brute_force(problem, subnet + 1, room);
    let mut best = (missing + 1, cost);
    for cell in &next.costs {
        if room[cell.index()] >= next.load {
            room[cell.index()] -= next.load;
            let (missing, rest) = brute_force(problem, subnet + 1, room);
            room[cell.index()] += next.load;
            if (missing, cell.cost + rest) < best {
                best = (missing, cell.cost + rest);
            }
        }
    }
    best
}

fn placed(plan: &Plan) -> usize {
    plan.iter().flatten().count()
}

/// The linear program as an independent solver has it; `None` when it is infeasible.
fn linear_program(problem: &AssignmentProblem) -> Option<f64> {
    let mut program = Problem::new(OptimizationDirection::Minimize);
    let mut at_agent = vec![Vec::new(); problem.capacities().len()];
    for subnet in problem.subnets() {
        let mut shares = Vec::new();
        for cell in &subnet.costs {
            let share = program.add_var(cell.cost, (0.0, 1.0));
            shares.push((share, 1.0));
            at_agent[cell.index()].push((share, subnet.load as f64));
        }
        program.add_constraint(shares, ComparisonOp::Eq, 1.0);
    }
    for (shares, capacity) in at_agent.into_iter().zip(problem.capacities()) {
        program.add_constraint(shares, ComparisonOp::Le, *capacity as f64);
    }
    program.solve().ok()?.solution().map(microlp::Solution::objective)
}

/// The plan with every subnet at its nearest agent, relieved by the rule as far as possible.
fn relieved(problem: &AssignmentProblem, rule: BalanceRule) -> Plan {
    let mut plan = problem.nearest();
    for agent in 0..problem.capacities().len() {
        loop {
            let loads = problem.loads(&plan);
            let held: Vec<usize> =
                (0..plan.len()).filter(|subnet| plan[*subnet] == Some(agent)).collect();
            let is_overloaded = loads[agent] > problem.capacities()[agent];
            let made = is_overloaded.then(|| relieve(problem, &loads, agent, &held, rule));
            let Some(made) = made.flatten() else { break };
            plan[made.subnet] = Some(made.to);
        }
    }
    plan
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-6 * (1.0 + a.abs())
}

#[test]
fn a_hand_made_case() {
    // Both are nearest to agent 0, which has room for one; the second loses less elsewhere.
    let problem = assignment_problem(
        &[1, 2],
        &[(1, vec![Some(10.0), Some(90.0)]), (1, vec![Some(12.0), Some(20.0)])],
    );
    assert_eq!(problem.nearest(), [Some(0), Some(0)]);
    assert_eq!(problem.overload(&problem.nearest()), 1);
    let optimum = optimal(&problem);
    assert_eq!(optimum.plan, [Some(0), Some(1)]);
    assert!(close(optimum.cost, 30.0) && close(optimum.bound, 30.0));
}

#[test]
fn a_chain_of_moves() {
    // The newcomer fits nowhere but at agent 0; its tenant goes on to 1, whose tenant goes on to 2.
    let rows = [
        (1, vec![Some(1.0), Some(2.0), None]),
        (1, vec![None, Some(1.0), Some(2.0)]),
        (1, vec![Some(1.0), None, None]),
    ];
    let problem = assignment_problem(&[1, 1, 1], &rows);
    assert_eq!(optimal(&problem).plan, [Some(1), Some(2), Some(0)]);
}

#[test]
fn nonsense_is_refused() {
    let subnet = |load, costs: &[(u32, f64)]| Subnet {
        load,
        costs: costs.iter().map(|(agent, cost)| AgentCost::measured(*agent, *cost)).collect(),
    };
    let refused = |subnet| AssignmentProblem::new(vec![1, 1], vec![subnet]).unwrap_err();
    assert_eq!(refused(subnet(0, &[])), InvalidProblem::NoLoad(0));
    assert_eq!(
        refused(subnet(1, &[(2, 1.0)])),
        InvalidProblem::UnknownAgent { subnet: 0, agent: 2, agents: 2 }
    );
    assert!(matches!(refused(subnet(1, &[(0, f64::NAN)])), InvalidProblem::Cost { .. }));
    assert_eq!(
        refused(subnet(1, &[(1, 1.0), (1, 2.0)])),
        InvalidProblem::Twice { subnet: 0, agent: 1 }
    );
}

/// III.F: the smallest variance goes first; when its next-best agent is full, the next smallest.
#[test]
fn the_papers_rule() {
    let rows = [
        (1, vec![Some(10.0), Some(11.0), Some(90.0)]),
        (1, vec![Some(10.0), Some(40.0), Some(30.0)]),
        (1, vec![Some(10.0), Some(80.0), Some(70.0)]),
    ];
    let problem = assignment_problem(&[2, 1, 1], &rows);
    let by = |loads: &[u64], rule| {
        relieve(&problem, loads, 0, &[0, 1, 2], rule).map(|made| (made.subnet, made.to))
    };
    assert_eq!(by(&[3, 0, 0], BalanceRule::Variance), Some((1, 2)), "10, 40, 30 vary least");
    assert_eq!(by(&[3, 0, 0], BalanceRule::NextBest), Some((0, 1)), "11 is only 1 more than 10");
    assert_eq!(
        by(&[3, 0, 1], BalanceRule::Variance),
        Some((0, 1)),
        "the agent at 30 is full, then the next variance"
    );
    assert_eq!(
        by(&[3, 1, 0], BalanceRule::NextBest),
        Some((1, 2)),
        "subnet 0's next-best is full, the third is not asked"
    );
    assert_eq!(by(&[3, 1, 1], BalanceRule::Cheapest), None);
}

/// III.F speaks of probing results: predicted costs that hardly vary do not choose the subnet, nor
/// does an agent that was only predicted to be the next-best.
#[test]
fn the_papers_rule_counts_measured_costs_only() {
    let alike = |cost: f64| (2..6).map(move |agent| AgentCost::predicted(agent, cost));
    let subnet = |measured: [f64; 2], predicted: f64| {
        let [here, there] = measured;
        let costs = [AgentCost::measured(0, here), AgentCost::measured(1, there)];
        Subnet { load: 1, costs: costs.into_iter().chain(alike(predicted)).collect() }
    };
    // With the predicted costs, the first would vary least.
    let subnets = vec![subnet([10.0, 40.0], 24.0), subnet([10.0, 30.0], 90.0)];
    let problem = AssignmentProblem::new(vec![1, 2, 2, 2, 2, 2], subnets).unwrap();
    let made = relieve(&problem, &[2, 0, 0, 0, 0, 0], 0, &[0, 1], BalanceRule::Variance).unwrap();
    assert_eq!((made.subnet, made.to, made.source), (1, 1, CostSource::Measured));
    assert!(close(problem.variance(0), 225.0) && close(problem.variance(1), 100.0));
}

/// One measured time varies not at all, which says nothing about the agents that were not asked.
#[test]
fn a_subnet_that_one_agent_measured_varies_by_an_unknown_amount() {
    let alone = Subnet { load: 1, costs: vec![AgentCost::measured(0, 10.0)] };
    let problem = AssignmentProblem::new(vec![1], vec![alone]).unwrap();
    assert!(problem.variance(0).is_infinite());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn unit_loads_are_exact(problem in problems(1..2, 8)) {
        let optimum = optimal(&problem);
        let (missing, cost) = brute_force(&problem, 0, &mut problem.capacities().to_vec());
        prop_assert_eq!(problem.overload(&optimum.plan), 0);
        prop_assert_eq!(problem.subnets().len() - placed(&optimum.plan), missing);
        prop_assert!(close(optimum.cost, optimum.bound));
        if missing == 0 {
            prop_assert!(close(optimum.cost, cost), "{} {cost}", optimum.cost);
        }
    }

    #[test]
    fn the_bound_is_the_linear_programs(problem in problems(1..20, 14)) {
        let optimum = optimal(&problem);
        prop_assert_eq!(problem.overload(&optimum.plan), 0);
        if let Some(objective) = linear_program(&problem) {
            prop_assert!(close(optimum.bound, objective), "{} {objective}", optimum.bound);
            if placed(&optimum.plan) == problem.subnets().len() {
                prop_assert!(optimum.cost >= objective - 1e-6 * objective);
            }
        }
    }

    /// A rule moves a subnet of the agent to another with room, at the cost it says, and says why
    /// nothing else moved.
    #[test]
    fn moves_are_what_they_say(
        problem in problems(1..4, 10),
        agent in any::<prop::sample::Index>(),
    ) {
        let agent = agent.index(problem.capacities().len());
        let plan = problem.nearest();
        let held: Vec<usize> =
            (0..plan.len()).filter(|subnet| plan[*subnet] == Some(agent)).collect();
        let loads = problem.loads(&plan);
        let by = |rule| relieve(&problem, &loads, agent, &held, rule);
        for made in BalanceRule::MOVING.into_iter().filter_map(by) {
            let mut after = plan.clone();
            after[made.subnet] = Some(made.to);
            prop_assert_eq!((made.from, plan[made.subnet]), (agent, Some(agent)));
            prop_assert!(problem.loads(&after)[made.to] <= problem.capacities()[made.to]);
            prop_assert!(close(
                problem.total_cost(&after),
                problem.total_cost(&plan) + made.added_cost()
            ));
            prop_assert!(
                made.added_cost() >= by(BalanceRule::Cheapest).unwrap().added_cost() - 1e-9
            );
            for refused in &made.refused {
                prop_assert!((refused.subnet, refused.agent) != (made.subnet, made.to));
                prop_assert_eq!(problem.cost(refused.subnet, refused.agent), Some(refused.cost));
                if let RefusalReason::Full { room } = refused.why {
                    prop_assert!(room < problem.subnets()[refused.subnet].load);
                }
            }
        }
    }

    /// A rebalance keeps to its limits, overloads no agent more than before, and its sums are
    /// correct.
    #[test]
    fn a_rebalance_keeps_its_limits(
        problem in problems(1..5, 14),
        moves in 0_usize..12,
        min_gain in 0.0..40.0,
        start in 0_usize..3,
    ) {
        let current = if start == 0 {
            problem.nearest()
        } else {
            relieved(&problem, BalanceRule::MOVING[start])
        };
        let done = rebalance(&problem, &current, RebalanceLimits { moves, min_gain });
        prop_assert!(done.moves.len() <= moves);
        let mut plan = current.clone();
        let mut cost = done.before;
        for made in &done.moves {
            prop_assert_eq!(plan[made.subnet], Some(made.from));
            plan[made.subnet] = Some(made.to);
            cost += made.added_cost();
        }
        prop_assert_eq!(&plan, &done.plan);
        prop_assert!(close(cost, done.after) && close(done.after, problem.total_cost(&plan)));
        let before = problem.loads(&current);
        let after = problem.loads(&plan);
        for (agent, capacity) in problem.capacities().iter().enumerate() {
            prop_assert!(after[agent] <= before[agent].max(*capacity), "agent {agent}");
        }
        if problem.overload(&current) == 0 {
            prop_assert!(done.after <= done.before - min_gain * done.moves.len() as f64 + 1e-6);
        }
    }

    /// Without limits it arrives at the optimum.
    #[test]
    fn a_rebalance_without_limits_is_optimal(problem in problems(1..2, 14), rule in 0_usize..3) {
        let optimum = optimal(&problem);
        prop_assume!(placed(&optimum.plan) == problem.subnets().len());
        let current = relieved(&problem, BalanceRule::MOVING[rule]);
        let done =
            rebalance(&problem, &current, RebalanceLimits { moves: usize::MAX, min_gain: 0.0 });
        prop_assert_eq!(problem.overload(&done.plan), 0);
        prop_assert!(
            done.after <= optimum.cost + 1e-6,
            "{} {} {}",
            done.before,
            done.after,
            optimum.cost
        );
    }
}

/// 150 subnets with loads of 1 to 9 at five agents that have 6 % more room than there is load: two
/// hundred times.
#[test]
fn many_small_loads_come_within_half_a_percent() {
    for seed in 0_u64..200 {
        let noise = |n: u64| {
            (seed.wrapping_mul(6_364_136_223_846_793_005) ^ n.wrapping_mul(0x9E37_79B9_7F4A_7C15))
                >> 40
        };
        let row = |s: u64| (0..5).map(|a| Some((noise(s * 7 + a + 1) % 1000 + 1) as f64)).collect();
        let rows: Vec<_> = (0..150).map(|s| (1 + noise(s + 5000) % 9, row(s))).collect();
        let total: u64 = rows.iter().map(|(load, _)| load).sum();
        let problem = assignment_problem(&[total / 5 + 10; 5], &rows);
        let optimum = optimal(&problem);
        assert_eq!(
            (problem.overload(&optimum.plan), placed(&optimum.plan)),
            (0, 150),
            "seed {seed}"
        );
        let bound = linear_program(&problem).unwrap();
        assert!(close(bound, optimum.bound), "seed {seed}");
        assert!(optimum.cost <= 1.005 * bound, "seed {seed}: {}", optimum.cost / bound);
    }
}

/// Hundreds of subnets at one agent, many of them with the same costs: of the arcs from one agent
/// to another only the cheapest are kept, and they are used up again and again.
#[test]
fn hundreds_of_subnets_move_along_the_cheapest_arcs() {
    for seed in 0_u64..12 {
        let noise = |n: u64| {
            (seed.wrapping_mul(6_364_136_223_846_793_005) ^ n.wrapping_mul(0x9E37_79B9_7F4A_7C15))
                >> 40
        };
        // Agent 0 is the nearest to nearly all. Half of the problems have a handful of different
        // costs only.
        let different = if seed % 2 == 0 { 5 } else { 400 };
        let cost =
            |s: u64, a: u64| (noise(s * 7 + a + 1) % different + 1 + 3 * a * different / 4) as f64;
        let rows: Vec<_> =
            (0..900).map(|s| (1, (0..3).map(|a| Some(cost(s, a))).collect())).collect();
        let problem = assignment_problem(&[320; 3], &rows);
        let bound = linear_program(&problem).unwrap();
        assert!(close(optimal(&problem).cost, bound), "seed {seed}");
    }
}

/// Agents 0 and 1 hold each other's subnets; neither has room for a third.
#[test]
fn a_swap_is_one_batch() {
    let rows = [(1, vec![Some(9.0), Some(1.0)]), (1, vec![Some(1.0), Some(9.0)])];
    let problem = assignment_problem(&[1, 1], &rows);
    let current = vec![Some(0), Some(1)];
    let one = RebalanceLimits { moves: 1, min_gain: 0.0 };
    assert_eq!(rebalance(&problem, &current, one).moves, [], "half a swap overloads");
    let done = rebalance(&problem, &current, RebalanceLimits { moves: 2, ..one });
    assert_eq!(done.plan, [Some(1), Some(0)]);
    assert_eq!((done.moves[0].batch, done.moves[1].batch), (0, 0));
    assert!(close(done.before, 18.0) && close(done.after, 2.0));
    let dear = rebalance(&problem, &current, RebalanceLimits { moves: 2, min_gain: 8.5 });
    assert_eq!((dear.moves.len(), dear.left), (0, 2), "8 ms a day each are not worth it");
}

#[test]
fn a_move_says_why_not_otherwise() {
    let full = Subnet { load: 3, costs: vec![AgentCost::measured(1, 5.0)] };
    let costs = vec![
        AgentCost::measured(0, 9.0),
        AgentCost::measured(1, 6.0),
        AgentCost::predicted(2, 7.0),
        AgentCost::measured(3, 8.0),
    ];
    let problem =
        AssignmentProblem::new(vec![1, 3, 2, 2], vec![full, Subnet { load: 2, costs }]).unwrap();
    let made =
        rebalance(&problem, &vec![Some(1), Some(0)], RebalanceLimits { moves: 9, min_gain: 0.0 })
            .moves;
    let [made] = made.as_slice() else { panic!("{made:?}") };
    assert_eq!((made.to, made.source, made.before), (2, CostSource::Predicted, Some(9.0)));
    let why: Vec<_> = made.refused.iter().map(|refused| (refused.agent, refused.why)).collect();
    assert_eq!(
        why,
        [
            (1, RefusalReason::Full { room: 0 }),
            (3, RefusalReason::Dearer { by: 1.0 }),
            (0, RefusalReason::Dearer { by: 2.0 })
        ]
    );
}
