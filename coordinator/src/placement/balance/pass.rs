//! Periodic pass: moves towards the cheapest plan, as many subnets a day as the policy allows.

use std::sync::Arc;

use delegation::balance::{CostSource, Move, Rebalance, RebalanceLimits, rebalance};
use model::{DAY_MS, UnixMillis, policy::BalancePolicy};
use store::StoreError;
use store::moves::{self, MoveCause};
use tokio::task::{JoinError, spawn_blocking};

use crate::placement::Placement;
use crate::placement::balance::BalanceOutcome;
use crate::placement::balance::execute_move::execute_move;
use crate::placement::balance::problem::BalanceProblem;

/// Why a pass could not be planned.
#[derive(Debug, thiserror::Error)]
pub enum PassError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the computation of the cheapest plan panicked")]
    Computation(#[from] JoinError),
}

/// The moves that a pass would make now.
pub async fn plan_pass(
    placement: &Placement,
    problem: &BalanceProblem,
    policy: &BalancePolicy,
    now: UnixMillis,
) -> Result<Rebalance, PassError> {
    let spent = moves::of_passes_since(&placement.store, now.plus_ms(-DAY_MS)).await?;
    let left = u64::from(policy.moves_a_day).saturating_sub(spent);
    let limits = RebalanceLimits {
        moves: usize::try_from(left).unwrap_or(usize::MAX),
        min_gain: f64::from(policy.least_gain_ms),
    };
    Ok(plan(problem, limits).await?)
}

/// The moves that relieve all overloaded agents, without limit of their number. The least gain is
/// infinite, so that no other move is made.
pub async fn plan_relief(problem: &BalanceProblem) -> Result<Rebalance, JoinError> {
    plan(problem, RebalanceLimits { moves: usize::MAX, min_gain: f64::INFINITY }).await
}

/// Computes a plan on a thread for blocking work: the exact optimum takes seconds at full size.
async fn plan(problem: &BalanceProblem, limits: RebalanceLimits) -> Result<Rebalance, JoinError> {
    let instance = Arc::clone(&problem.instance);
    let current = problem.plan.clone();
    spawn_blocking(move || rebalance(&instance, &current, limits)).await
}

/// Executes a plan batch by batch. The moves of a batch depend on each other: only together do
/// they keep every agent within its capacity. One that takes from an agent that is away waits.
pub async fn execute_plan(
    placement: &Placement,
    problem: &mut BalanceProblem,
    plan: &Rebalance,
    cause: MoveCause,
) -> Result<BalanceOutcome, StoreError> {
    let mut outcome = BalanceOutcome::default();
    for batch in plan.moves.chunk_by(|a, b| a.batch == b.batch) {
        if !batch.iter().all(|made| problem.receivers.may_give(problem.agents[made.from])) {
            continue;
        }
        let predicted: Vec<&Move> =
            batch.iter().filter(|made| made.source == CostSource::Predicted).collect();
        if !predicted.is_empty() {
            // Only the measurements are requested; the whole batch waits for them.
            for made in predicted {
                outcome = outcome.and(execute_move(placement, problem, made, cause).await?);
            }
        } else if fits(problem, batch) {
            for made in batch {
                let done = execute_move(placement, problem, made, cause).await?;
                outcome = outcome.and(done);
                if done.moved == 0 {
                    // The remaining moves of the batch may need the capacity that this one would
                    // have freed. Whether a later batch does, `fits` says.
                    break;
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

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::sync::mpsc;

    use delegation::balance::{AgentCost, AssignmentProblem, Subnet};
    use futures_util::poll;
    use model::AgentId;
    use tokio::runtime;

    use super::*;
    use crate::placement::balance::receivers::Receivers;

    /// Two agents with room for one subnet each; agent 0 has both subnets.
    fn overloaded() -> BalanceProblem {
        let costs = || vec![AgentCost::measured(0, 1.0), AgentCost::measured(1, 2.0)];
        let subnets = (0..2).map(|_| Subnet { load: 1, costs: costs() }).collect();
        BalanceProblem {
            instance: Arc::new(AssignmentProblem::new(vec![1, 1], subnets).unwrap()),
            plan: vec![Some(0), Some(0)],
            agents: vec![AgentId::new(1), AgentId::new(2)],
            held: Vec::new(),
            receivers: Receivers::default(),
        }
    }

    #[test]
    fn a_plan_waits_for_a_blocking_thread_and_leaves_the_runtime_free() {
        let runtime = runtime::Builder::new_current_thread().max_blocking_threads(1).build();
        runtime.unwrap().block_on(async {
            let (release, released) = mpsc::channel::<()>();
            let occupied = spawn_blocking(move || released.recv().is_ok());
            let problem = overloaded();
            let mut planning = pin!(plan_relief(&problem));
            assert!(poll!(planning.as_mut()).is_pending(), "the only blocking thread is occupied");
            drop(release);
            assert_eq!(planning.await.unwrap().moves.len(), 1);
            assert!(!occupied.await.unwrap());
        });
    }
}
