//! The cheapest whole plan: every subnet at one agent, nobody over capacity.

use super::ejection_chains::{Desk, polish};
use super::{AssignmentProblem, MinCostFlow, Plan};

/// The cheapest plan found, and what no plan can be cheaper than.
#[derive(Debug, Clone, PartialEq)]
pub struct Optimum {
    /// Who crawls what. `None` where a subnet fits nowhere.
    pub plan: Plan,
    /// Cost of the plan.
    pub cost: f64,
    /// Cost of the linear program; equal to `cost` for loads of 1.
    pub bound: f64,
}

/// The optimum of `instance`. Exact for loads of 1. For other loads the linear program is solved
/// exactly, the few split subnets (at most one per agent that is full) are put whole to where it
/// costs least, and what that spoils is polished away.
pub fn optimal(instance: &AssignmentProblem) -> Optimum {
    whole(instance, &MinCostFlow::of(instance))
}

/// Gives every split subnet of a flow to one agent, the largest first, and polishes the plan.
pub fn whole(instance: &AssignmentProblem, flow: &MinCostFlow) -> Optimum {
    let bound = flow.cost(instance);
    let mut desk = Desk::new(instance, flow.room());
    let mut split = Vec::new();
    for (subnet, whole) in instance.subnets().iter().enumerate() {
        match flow.shares(subnet).next() {
            Some((agent, load)) if load == whole.load => desk.keep(subnet, agent),
            _ => {
                for (agent, load) in flow.shares(subnet) {
                    desk.room[agent] += load;
                }
                split.push(subnet);
            }
        }
    }
    if split.is_empty() {
        return Optimum { cost: bound, bound, plan: desk.plan };
    }
    split.sort_by_key(|subnet| std::cmp::Reverse(instance.subnets()[*subnet].load));
    polish(&mut desk, &split, bound);
    Optimum { cost: instance.total_cost(&desk.plan), bound, plan: desk.plan }
}
