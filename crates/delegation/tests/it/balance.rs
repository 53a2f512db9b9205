//! Balance against brute force, against an independent solver of linear programs, and by
//! properties.

use delegation::{
    balance::AgentCost, balance::AssignmentProblem, balance::CostSource, balance::InvalidProblem,
    balance::MinCostFlow, balance::Plan, balance::RebalanceLimits, balance::RefusalReason,
    balance::Subnet, balance::arrivals, balance::optimal, balance::rebalance, balance::relieve,
};
use microlp::{ComparisonOp, OptimizationDirection, Problem};
use model::BalanceRule;
use proptest::prelude::*;

/// `rows[s][a]` is the cost of subnet *s* at agent *a*; `None` where it may not go.
fn instance(capacities: &[u64], rows: &[(u64, Vec<Option<f64>>)]) -> AssignmentProblem {
    let subnets = rows.iter().map(|(load, row)| Subnet {
        load: *load,
        costs: (0..)
            .zip(row)
            .filter_map(|(agent, cost)| Some(AgentCost::measured(agent, (*cost)?)))
            .collect(),
    });
    AssignmentProblem::new(capacities.to_vec(), subnets.collect()).unwrap()
}

fn instances(
    loads: std::ops::Range<u64>,
    subnets: usize,
) -> impl Strategy<Value = AssignmentProblem> {
    (2_usize..5).prop_flat_map(move |agents| {
        let row = prop::collection::vec(prop::option::weighted(0.9, 1.0..200.0), agents);
        let rows = prop::collection::vec((loads.clone(), row), 1..subnets);
        let capacities = prop::collection::vec(0_u64..(3 * loads.end), agents);
        (capacities, rows).prop_map(|(capacities, rows)| instance(&capacities, &rows))
    })
}

/// The cheapest of all plans that place as many subnets as can be placed.
fn brute_force(instance: &AssignmentProblem, subnet: usize, room: &mut [u64]) -> (usize, f64) {
    let Some(next) = instance.subnets().get(subnet) else { return (0, 0.0) };
    let (missing, cost) = brute_force(instance, subnet + 1, room);
    let mut best = (missing + 1, cost);
    for cell in &next.costs {
        if room[cell.index()] >= next.load {
            room[cell.index()] -= next.load;
            let (missing, rest) = brute_force(instance, subnet + 1, room);
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
fn linear_program(instance: &AssignmentProblem) -> Option<f64> {
    let mut problem = Problem::new(OptimizationDirection::Minimize);
    let mut at_agent = vec![Vec::new(); instance.capacities().len()];
    for subnet in instance.subnets() {
        let mut shares = Vec::new();
        for cell in &subnet.costs {
            let share = problem.add_var(cell.cost, (0.0, 1.0));
            shares.push((share, 1.0));
            at_agent[cell.index()].push((share, subnet.load as f64));
        }
        problem.add_constraint(shares, ComparisonOp::Eq, 1.0);
    }
    for (shares, capacity) in at_agent.into_iter().zip(instance.capacities()) {
        problem.add_constraint(shares, ComparisonOp::Le, *capacity as f64);
    }
    problem.solve().ok()?.solution().map(microlp::Solution::objective)
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-6 * (1.0 + a.abs())
}

#[test]
fn a_hand_made_case() {
    // Both are nearest to agent 0, which has room for one; the second loses less elsewhere.
    let instance =
        instance(&[1, 2], &[(1, vec![Some(10.0), Some(90.0)]), (1, vec![Some(12.0), Some(20.0)])]);
    assert_eq!(instance.nearest(), [Some(0), Some(0)]);
    assert_eq!(instance.overload(&instance.nearest()), 1);
    let optimum = optimal(&instance);
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
    let instance = instance(&[1, 1, 1], &rows);
    assert_eq!(optimal(&instance).plan, [Some(1), Some(2), Some(0)]);
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
    let instance = instance(&[2, 1, 1], &rows);
    let by = |loads: &[u64], rule| {
        relieve(&instance, loads, 0, &[0, 1, 2], rule).map(|found| (found.subnet, found.to))
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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn unit_loads_are_exact(instance in instances(1..2, 8)) {
        let optimum = optimal(&instance);
        let (missing, cost) = brute_force(&instance, 0, &mut instance.capacities().to_vec());
        prop_assert_eq!(instance.overload(&optimum.plan), 0);
        prop_assert_eq!(instance.subnets().len() - placed(&optimum.plan), missing);
        prop_assert!(close(optimum.cost, optimum.bound));
        if missing == 0 {
            prop_assert!(close(optimum.cost, cost), "{} {cost}", optimum.cost);
        }
    }

    #[test]
    fn the_bound_is_the_linear_programs(instance in instances(1..20, 14)) {
        let optimum = optimal(&instance);
        prop_assert_eq!(instance.overload(&optimum.plan), 0);
        if let Some(objective) = linear_program(&instance) {
            prop_assert!(close(optimum.bound, objective), "{} {objective}", optimum.bound);
            if placed(&optimum.plan) == instance.subnets().len() {
                prop_assert!(optimum.cost >= objective - 1e-6 * objective);
            }
        }
    }

    /// Taking out and placing again in another order ends at the same cost as starting over.
    #[test]
    fn changes_keep_it_optimal(
        instance in instances(1..4, 12),
        out in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
    ) {
        let subnets = instance.subnets().len();
        let mut flow = MinCostFlow::new(&instance);
        let unplaced: u64 = (0..subnets).map(|subnet| flow.place(&instance, subnet)).sum();
        prop_assume!(unplaced == 0);
        let whole = flow.cost(&instance);
        let mut gone: Vec<usize> = out.iter().map(|index| index.index(subnets)).collect();
        gone.sort_unstable();
        gone.dedup();
        for subnet in &gone {
            flow.take_out(&instance, *subnet);
        }
        flow.settle(&instance);
        let mut rest = MinCostFlow::new(&instance);
        for subnet in (0..subnets).filter(|subnet| !gone.contains(subnet)) {
            rest.place(&instance, subnet);
        }
        prop_assert!(close(flow.cost(&instance), rest.cost(&instance)), "{} {}", flow.cost(&instance), rest.cost(&instance));
        for subnet in gone.iter().rev() {
            prop_assert_eq!(flow.place(&instance, *subnet), 0);
        }
        prop_assert!(close(flow.cost(&instance), whole), "{} {whole}", flow.cost(&instance));
    }

    /// Costs and loads that change under a flow end at the same cost as starting over with the new
    /// ones.
    #[test]
    fn new_costs_keep_it_optimal(
        instance in instances(1..4, 12),
        changes in prop::collection::vec((any::<prop::sample::Index>(), 1_u64..4, 0.1_f64..5.0), 1..12),
    ) {
        let mut instance = instance;
        let mut flow = MinCostFlow::new(&instance);
        let unplaced: u64 = (0..instance.subnets().len()).map(|subnet| flow.place(&instance, subnet)).sum();
        prop_assume!(unplaced == 0);
        for (index, load, factor) in changes {
            let number = index.index(instance.subnets().len());
            let mut changed = instance.subnets()[number].clone();
            changed.load = load;
            for cell in &mut changed.costs {
                cell.cost = (cell.cost * factor * f64::from(cell.agent % 2 + 1)).round();
            }
            flow.take_out(&instance, number);
            instance.replace(number, changed).unwrap();
            prop_assume!(flow.place(&instance, number) == 0);
        }
        flow.settle(&instance);
        let mut anew = MinCostFlow::new(&instance);
        for subnet in 0..instance.subnets().len() {
            anew.place(&instance, subnet);
        }
        prop_assert!(close(flow.cost(&instance), anew.cost(&instance)));
    }

    /// A rule moves a subnet of the agent to another with room, at the cost it says, and says why
    /// nothing else moved.
    #[test]
    fn moves_are_what_they_say(instance in instances(1..4, 10), agent in any::<prop::sample::Index>()) {
        let agent = agent.index(instance.capacities().len());
        let plan = instance.nearest();
        let held: Vec<usize> = (0..plan.len()).filter(|subnet| plan[*subnet] == Some(agent)).collect();
        let loads = instance.loads(&plan);
        let by = |rule| relieve(&instance, &loads, agent, &held, rule);
        for found in BalanceRule::MOVING.into_iter().filter_map(by) {
            let mut after = plan.clone();
            after[found.subnet] = Some(found.to);
            prop_assert_eq!((found.from, plan[found.subnet]), (agent, Some(agent)));
            prop_assert!(instance.loads(&after)[found.to] <= instance.capacities()[found.to]);
            prop_assert!(close(instance.total_cost(&after), instance.total_cost(&plan) + found.extra()));
            prop_assert!(found.extra() >= by(BalanceRule::Cheapest).unwrap().extra() - 1e-9);
            for refused in &found.refused {
                prop_assert!((refused.subnet, refused.agent) != (found.subnet, found.to));
                prop_assert_eq!(instance.cost(refused.subnet, refused.agent), Some(refused.cost));
                if let RefusalReason::Full { room } = refused.why {
                    prop_assert!(room < instance.subnets()[refused.subnet].load);
                }
            }
        }
    }

    /// Whatever the rule, nobody is left over capacity while one of its subnets fits somewhere.
    #[test]
    fn arrivals_relieve_where_they_can(instance in instances(1..4, 12), rule in 0_usize..3) {
        let rule = BalanceRule::MOVING[rule];
        let seen = arrivals(&instance, rule);
        prop_assert!(seen.best_moves <= seen.moves);
        prop_assert_eq!(placed(&seen.plan), placed(&instance.nearest()));
        let loads = instance.loads(&seen.plan);
        for agent in (0..loads.len()).filter(|agent| loads[*agent] > instance.capacities()[*agent]) {
            let held: Vec<usize> = (0..seen.plan.len()).filter(|subnet| seen.plan[*subnet] == Some(agent)).collect();
            prop_assert!(relieve(&instance, &loads, agent, &held, rule).is_none());
        }
    }

    /// A rebalance keeps to its limits, overloads nobody more than before, and adds up.
    #[test]
    fn a_rebalance_keeps_its_limits(
        instance in instances(1..5, 14), moves in 0_usize..12, min_gain in 0.0..40.0, start in 0_usize..3,
    ) {
        let current = if start == 0 { instance.nearest() } else { arrivals(&instance, BalanceRule::MOVING[start]).plan };
        let done = rebalance(&instance, &current, RebalanceLimits { moves, min_gain });
        prop_assert!(done.moves.len() <= moves);
        let (mut plan, mut cost) = (current.clone(), done.before);
        for found in &done.moves {
            prop_assert_eq!(plan[found.subnet], Some(found.from));
            plan[found.subnet] = Some(found.to);
            cost += found.extra();
        }
        prop_assert_eq!(&plan, &done.plan);
        prop_assert!(close(cost, done.after) && close(done.after, instance.total_cost(&plan)));
        let (before, after) = (instance.loads(&current), instance.loads(&plan));
        for (agent, capacity) in instance.capacities().iter().enumerate() {
            prop_assert!(after[agent] <= before[agent].max(*capacity), "agent {agent}");
        }
        if instance.overload(&current) == 0 {
            prop_assert!(done.after <= done.before - min_gain * done.moves.len() as f64 + 1e-6);
        }
    }

    /// Without limits it arrives at the optimum.
    #[test]
    fn a_rebalance_without_limits_is_optimal(instance in instances(1..2, 14), rule in 0_usize..3) {
        let optimum = optimal(&instance);
        prop_assume!(placed(&optimum.plan) == instance.subnets().len());
        let current = arrivals(&instance, BalanceRule::MOVING[rule]).plan;
        let done = rebalance(&instance, &current, RebalanceLimits { moves: usize::MAX, min_gain: 0.0 });
        prop_assert_eq!(instance.overload(&done.plan), 0);
        prop_assert!(done.after <= optimum.cost + 1e-6, "{} {} {}", done.before, done.after, optimum.cost);
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
        let instance = instance(&[total / 5 + 10; 5], &rows);
        let optimum = optimal(&instance);
        assert_eq!(
            (instance.overload(&optimum.plan), placed(&optimum.plan)),
            (0, 150),
            "seed {seed}"
        );
        let bound = linear_program(&instance).unwrap();
        assert!(close(bound, optimum.bound), "seed {seed}");
        assert!(optimum.cost <= 1.005 * bound, "seed {seed}: {}", optimum.cost / bound);
    }
}

/// Hundreds of subnets at one agent, many of them with the same costs: of the ways from one agent
/// to another only the cheapest are kept in mind, and they are used up again and again.
#[test]
fn crowds_are_moved_in_the_cheapest_way() {
    for seed in 0_u64..12 {
        let noise = |n: u64| {
            (seed.wrapping_mul(6_364_136_223_846_793_005) ^ n.wrapping_mul(0x9E37_79B9_7F4A_7C15))
                >> 40
        };
        // Agent 0 is the nearest to nearly all. Half of the instances have a handful of different
        // costs only.
        let different = if seed % 2 == 0 { 5 } else { 400 };
        let cost =
            |s: u64, a: u64| (noise(s * 7 + a + 1) % different + 1 + 3 * a * different / 4) as f64;
        let rows: Vec<_> =
            (0..900).map(|s| (1, (0..3).map(|a| Some(cost(s, a))).collect())).collect();
        let mut instance = instance(&[320; 3], &rows);
        let mut flow = MinCostFlow::of(&instance);
        assert!(close(flow.cost(&instance), linear_program(&instance).unwrap()), "seed {seed}");
        for number in (0..900).filter(|s| noise(s + 9_000) % 4 == 0) {
            let mut changed = instance.subnets()[number as usize].clone();
            for cell in &mut changed.costs {
                cell.cost = cost(number + 1_000, u64::from(2 - cell.agent));
            }
            flow.take_out(&instance, number as usize);
            instance.replace(number as usize, changed).unwrap();
            assert_eq!(flow.place(&instance, number as usize), 0, "seed {seed}");
        }
        flow.settle(&instance);
        assert!(
            close(flow.cost(&instance), linear_program(&instance).unwrap()),
            "seed {seed}, changed"
        );
    }
}

/// Agents 0 and 1 hold each other's subnets; neither has room for a third.
#[test]
fn a_swap_is_one_batch() {
    let rows = [(1, vec![Some(9.0), Some(1.0)]), (1, vec![Some(1.0), Some(9.0)])];
    let instance = instance(&[1, 1], &rows);
    let current = vec![Some(0), Some(1)];
    let one = RebalanceLimits { moves: 1, min_gain: 0.0 };
    assert_eq!(rebalance(&instance, &current, one).moves, [], "half a swap overloads");
    let done = rebalance(&instance, &current, RebalanceLimits { moves: 2, ..one });
    assert_eq!(done.plan, [Some(1), Some(0)]);
    assert_eq!((done.moves[0].batch, done.moves[1].batch), (0, 0));
    assert!(close(done.before, 18.0) && close(done.after, 2.0));
    let dear = rebalance(&instance, &current, RebalanceLimits { moves: 2, min_gain: 8.5 });
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
    let instance =
        AssignmentProblem::new(vec![1, 3, 2, 2], vec![full, Subnet { load: 2, costs }]).unwrap();
    let found =
        rebalance(&instance, &vec![Some(1), Some(0)], RebalanceLimits { moves: 9, min_gain: 0.0 })
            .moves;
    let [found] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((found.to, found.source, found.before), (2, CostSource::Predicted, Some(9.0)));
    let why: Vec<_> = found.refused.iter().map(|refused| (refused.agent, refused.why)).collect();
    assert_eq!(
        why,
        [
            (1, RefusalReason::Full { room: 0 }),
            (3, RefusalReason::Dearer { by: 1.0 }),
            (0, RefusalReason::Dearer { by: 2.0 })
        ]
    );
}

/// Agent 2 finds no room at agent 1 until the last subnet has made agent 1 give one away that was
/// in the way.
#[test]
fn who_found_no_room_is_relieved_once_there_is_some() {
    let instance = instance(
        &[0, 4, 0, 11],
        &[
            (1, vec![None, Some(1.0), Some(2.0), None]),
            (3, vec![None, Some(1.0), None, Some(190.0)]),
            (1, vec![None, Some(55.0), Some(1.0), None]),
            (1, vec![None, Some(1.0), None, None]),
        ],
    );
    for rule in BalanceRule::MOVING {
        let seen = arrivals(&instance, rule);
        assert_eq!(seen.plan, [Some(1), Some(3), Some(1), Some(1)], "{rule:?}");
        assert_eq!(seen.moves, 2, "{rule:?}");
    }
}
