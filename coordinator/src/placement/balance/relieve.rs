//! Relief: overloaded agents give subnets away, by the rule of the policy.

use delegation::balance::relieve;
use model::BalanceRule;
use store::StoreError;

use crate::placement::Placement;
use crate::placement::balance::BalanceOutcome;
use crate::placement::balance::execute_move::execute_move;
use crate::placement::balance::problem::BalanceProblem;

/// Relieves every agent that is over its capacity, as far as the rule finds moves. The plan of the
/// problem is updated with each move.
pub async fn relieve_overloaded(
    placement: &Placement,
    problem: &mut BalanceProblem,
    rule: BalanceRule,
) -> Result<BalanceOutcome, StoreError> {
    let mut outcome = BalanceOutcome::default();
    for agent in 0..problem.agents.len() {
        loop {
            // Computed again after each move, because moves between others change the loads too.
            let loads = problem.loads();
            if loads[agent] <= problem.instance.capacities()[agent] {
                break;
            }
            let held: Vec<usize> =
                (0..problem.plan.len()).filter(|at| problem.plan[*at] == Some(agent)).collect();
            let found = relieve(&problem.instance, &loads, agent, &held, rule);
            let Some(found) = found else { break };
            let done = execute_move(placement, problem, &found, Some(rule)).await?;
            outcome = outcome.and(done);
            if done.moved == 0 {
                // The move waits for a measurement, or the subnet was delegated meanwhile. The
                // rule would find the same move again, so that the next run continues.
                break;
            }
            problem.plan[found.subnet] = Some(found.to);
        }
    }
    Ok(outcome)
}
