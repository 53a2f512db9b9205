//! The online part: whoever has more to do than it can gives subnets away, by the rule of the
//! policy.

use delegation::balance::relieve;
use model::BalanceRule;
use store::StoreError;

use crate::placement::Placement;
use crate::placement::balance::BalanceOutcome;
use crate::placement::balance::carry_out::carry_out;
use crate::placement::balance::scene::Scene;

/// Relieves every agent that is over its capacity, as far as the rule finds a way. Moves show in
/// the plan of the scene.
pub async fn relief(
    placement: &Placement,
    scene: &mut Scene,
    rule: BalanceRule,
) -> Result<BalanceOutcome, StoreError> {
    let mut outcome = BalanceOutcome::default();
    for agent in 0..scene.agents.len() {
        loop {
            let loads = scene.loads();
            if loads[agent] <= scene.instance.capacities()[agent] {
                break;
            }
            let held: Vec<usize> =
                (0..scene.plan.len()).filter(|at| scene.plan[*at] == Some(agent)).collect();
            let Some(found) = relieve(&scene.instance, &loads, agent, &held, rule) else { break };
            let done = carry_out(placement, scene, &found, Some(rule)).await?;
            outcome = outcome.and(done);
            if done.moved == 0 {
                // It waits for a measurement, or the subnet was delegated meanwhile: looked at
                // again next time.
                break;
            }
            scene.plan[found.subnet] = Some(found.to);
        }
    }
    Ok(outcome)
}
