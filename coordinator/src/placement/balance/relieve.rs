//! Relief: overloaded agents give subnets away, by the rule of the policy.

use std::sync::Arc;

use delegation::balance::relieve;
use model::BalanceRule;
use store::moves::MoveCause;
use tokio::task::spawn_blocking;

use crate::placement::Placement;
use crate::placement::balance::BalanceOutcome;
use crate::placement::balance::execute_move::execute_move;
use crate::placement::balance::pass::PassError;
use crate::placement::balance::problem::BalanceProblem;

/// Relieves every agent that is over its capacity and not away, as far as the rule finds moves. The
/// plan of the problem is updated with each move.
pub async fn relieve_overloaded(
    placement: &Placement,
    problem: &mut BalanceProblem,
    rule: BalanceRule,
) -> Result<BalanceOutcome, PassError> {
    let mut outcome = BalanceOutcome::default();
    let mut loads = problem.loads();
    for agent in 0..problem.agents.len() {
        if !problem.receivers.may_give(problem.agents[agent]) {
            continue;
        }
        while loads[agent] > problem.instance.capacities()[agent] {
            let held: Vec<usize> =
                (0..problem.plan.len()).filter(|at| problem.plan[*at] == Some(agent)).collect();
            let instance = Arc::clone(&problem.instance);
            let at_present = loads.clone();
            let choosing =
                spawn_blocking(move || relieve(&instance, &at_present, agent, &held, rule));
            let found = choosing.await?;
            let Some(found) = found else { break };
            let done = execute_move(placement, problem, &found, MoveCause::Rule(rule)).await?;
            outcome = outcome.and(done);
            if done.moved == 0 {
                // The move waits for a measurement, or the subnet was delegated meanwhile. The
                // rule would find the same move again, so that the next run continues.
                break;
            }
            problem.plan[found.subnet] = Some(found.to);
            let load = problem.instance.subnets()[found.subnet].load;
            loads[agent] -= load;
            loads[found.to] += load;
        }
    }
    Ok(outcome)
}
