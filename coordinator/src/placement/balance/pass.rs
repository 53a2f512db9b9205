//! Periodic pass: moves towards the cheapest plan, as many subnets a day as the policy allows.

use delegation::balance::{CostSource, Move, Rebalance, RebalanceLimits, rebalance};
use model::{UnixMillis, policy::BalancePolicy};
use store::StoreError;
use store::moves;

use crate::placement::Placement;
use crate::placement::balance::BalanceOutcome;
use crate::placement::balance::execute_move::execute_move;
use crate::placement::balance::problem::BalanceProblem;

const DAY_MS: i64 = 24 * 3_600_000;

/// The moves that a pass would make now.
pub async fn plan_pass(
    placement: &Placement,
    problem: &BalanceProblem,
    policy: &BalancePolicy,
    now: UnixMillis,
) -> Result<Rebalance, StoreError> {
    let spent = moves::of_passes_since(&placement.store, now.plus_ms(-DAY_MS)).await?;
    let left = u64::from(policy.moves_a_day).saturating_sub(spent);
    let limits = RebalanceLimits {
        moves: usize::try_from(left).unwrap_or(usize::MAX),
        min_gain: f64::from(policy.least_gain_ms),
    };
    Ok(rebalance(&problem.instance, &problem.plan, limits))
}

/// The moves that relieve all overloaded agents, without limit: no gain is large enough to justify
/// any other move.
pub fn plan_relief(problem: &BalanceProblem) -> Rebalance {
    let limits = RebalanceLimits { moves: usize::MAX, min_gain: f64::INFINITY };
    rebalance(&problem.instance, &problem.plan, limits)
}

/// Executes a plan batch by batch. The moves of a batch depend on each other: only together do
/// they keep every agent within its capacity.
pub async fn execute_plan(
    placement: &Placement,
    problem: &mut BalanceProblem,
    plan: &Rebalance,
) -> Result<BalanceOutcome, StoreError> {
    let mut outcome = BalanceOutcome::default();
    for batch in plan.moves.chunk_by(|a, b| a.batch == b.batch) {
        let predicted: Vec<&Move> =
            batch.iter().filter(|made| made.source == CostSource::Predicted).collect();
        if !predicted.is_empty() {
            // Only the measurements are requested; the whole batch waits for them.
            for made in predicted {
                outcome = outcome.and(execute_move(placement, problem, made, None).await?);
            }
        } else if fits(problem, batch) {
            for made in batch {
                let done = execute_move(placement, problem, made, None).await?;
                outcome = outcome.and(done);
                if done.moved == 0 {
                    // The remaining moves need the capacity that this one would have freed.
                    return Ok(outcome);
                }
                problem.plan[made.subnet] = Some(made.to);
            }
        }
    }
    Ok(outcome)
}

/// Whether the batch overloads no agent further. It may, after an earlier batch that would have
/// freed the capacity had to wait.
fn fits(problem: &BalanceProblem, batch: &[Move]) -> bool {
    let before = problem.loads();
    let mut plan = problem.plan.clone();
    for made in batch {
        plan[made.subnet] = Some(made.to);
    }
    let after = problem.instance.loads(&plan);
    let capacities = problem.instance.capacities();
    (0..after.len()).all(|agent| after[agent] <= capacities[agent].max(before[agent]))
}
