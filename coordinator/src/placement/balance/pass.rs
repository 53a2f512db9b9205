//! The periodic part: towards the cheapest plan, as far as the policy goes in a day.

use delegation::balance::{CostSource, Move, Rebalance, RebalanceLimits, rebalance};
use model::{UnixMillis, policy::BalancePolicy};
use store::StoreError;
use store::moves;

use crate::placement::Placement;
use crate::placement::balance::BalanceOutcome;
use crate::placement::balance::carry_out::carry_out;
use crate::placement::balance::scene::Scene;

const DAY_MS: i64 = 24 * 3_600_000;

/// What a pass would do now.
pub async fn plan(
    placement: &Placement,
    scene: &Scene,
    policy: &BalancePolicy,
    now: UnixMillis,
) -> Result<Rebalance, StoreError> {
    let spent = moves::of_passes_since(&placement.store, now.plus_ms(-DAY_MS)).await?;
    let left = u64::from(policy.moves_a_day).saturating_sub(spent);
    let limits = RebalanceLimits {
        moves: usize::try_from(left).unwrap_or(usize::MAX),
        min_gain: f64::from(policy.least_gain_ms),
    };
    Ok(rebalance(&scene.instance, &scene.plan, limits))
}

/// What relieves everybody who is over its capacity, however many moves that takes, and nothing
/// else.
pub fn relief_of_all(scene: &Scene) -> Rebalance {
    let limits = RebalanceLimits { moves: usize::MAX, min_gain: f64::INFINITY };
    rebalance(&scene.instance, &scene.plan, limits)
}

/// Carries a plan out, batch by batch. A batch that leads to where nobody has measured waits for
/// the measurements; one that counts on the room that such a batch would have made waits with it.
pub async fn carry_out_all(
    placement: &Placement,
    scene: &mut Scene,
    plan: &Rebalance,
) -> Result<BalanceOutcome, StoreError> {
    let mut outcome = BalanceOutcome::default();
    for batch in plan.moves.chunk_by(|a, b| a.batch == b.batch) {
        let predicted: Vec<&Move> =
            batch.iter().filter(|made| made.source == CostSource::Predicted).collect();
        if !predicted.is_empty() {
            for made in predicted {
                outcome = outcome.and(carry_out(placement, scene, made, None).await?);
            }
        } else if fits(scene, batch) {
            for made in batch {
                let done = carry_out(placement, scene, made, None).await?;
                outcome = outcome.and(done);
                if done.moved == 0 {
                    // The rest counts on the room that this one would have made.
                    return Ok(outcome);
                }
                scene.plan[made.subnet] = Some(made.to);
            }
        }
    }
    Ok(outcome)
}

/// Whether nobody is over its capacity after the batch who was not before.
fn fits(scene: &Scene, batch: &[Move]) -> bool {
    let before = scene.loads();
    let mut plan = scene.plan.clone();
    for made in batch {
        plan[made.subnet] = Some(made.to);
    }
    let after = scene.instance.loads(&plan);
    let capacities = scene.instance.capacities();
    (0..after.len()).all(|agent| after[agent] <= capacities[agent].max(before[agent]))
}
