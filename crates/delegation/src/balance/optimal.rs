//! The cheapest plan with every subnet at one agent and no agent over its capacity.

use super::ejection_chains::{Draft, place_split};
use super::min_cost_flow::MinCostFlow;
use super::{AssignmentProblem, Plan};

/// The cheapest plan that was found, with a bound that no plan is below.
#[derive(Debug, Clone, PartialEq)]
pub struct Optimum {
    /// The agent of each subnet. `None` where a subnet fits nowhere.
    pub plan: Plan,
    /// Cost of the plan, in milliseconds a day.
    pub cost: f64,
    /// Cost of the linear program; equal to `cost` for loads of 1.
    pub bound: f64,
}

/// The optimum of `problem`. Exact for loads of 1. For other loads the linear program is solved
/// exactly, the few split subnets (at most one per full agent) go to one agent each, and local
/// search improves the plan from there.
pub fn optimal(problem: &AssignmentProblem) -> Optimum {
    let flow = MinCostFlow::of(problem);
    let bound = flow.cost();
    let mut draft = Draft::new(problem, flow.room());
    let mut split = Vec::new();
    for (number, subnet) in problem.subnets().iter().enumerate() {
        match flow.shares(number).next() {
            Some((agent, load)) if load == subnet.load => draft.keep(number, agent),
            _ => {
                for (agent, load) in flow.shares(number) {
                    draft.room[agent] += load;
                }
                split.push(number);
            }
        }
    }
    if split.is_empty() {
        return Optimum { cost: bound, bound, plan: draft.plan };
    }
    // The largest first, while there is room in one piece.
    split.sort_by_key(|subnet| std::cmp::Reverse(problem.subnets()[*subnet].load));
    place_split(&mut draft, &split, bound);
    Optimum { cost: problem.total_cost(&draft.plan), bound, plan: draft.plan }
}
