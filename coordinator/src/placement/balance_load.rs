//! Load is spread.

use model::BalanceRule;
use serde_json::json;
use store::{loads, policy, settings};

use crate::placement::Placement;
use crate::placement::balance::BalanceOutcome;
use crate::placement::balance::pass::{carry_out_all, plan, relief_of_all};
use crate::placement::balance::relief::relief;
use crate::placement::balance::scene::Scene;
use crate::placement::load_snapshot::LoadSnapshot;
use crate::runtime::outcome::Outcome;
use crate::runtime::quantity::quantity;

/// Between two passes, in milliseconds.
const PASS_MS: i64 = 3_600_000;
/// The setting that says when the last pass was.
const LAST_PASS: &str = "balance_pass_ms";

/// Relieves agents that have more to do than they can, and now and then moves towards the cheapest
/// plan, within what the policy allows. While nobody is over its capacity and no pass is due it
/// only looks.
pub async fn run(placement: &Placement) -> Result<Outcome, anyhow::Error> {
    let Some(delegated) = placement.hierarchy.current() else { return Ok(Outcome::Idle) };
    let policy = policy::balance(&placement.store).await?;
    let scales = LoadSnapshot::take(placement, &delegated).await?;
    let overfull = scales.agents.iter().any(|weighed| weighed.load > weighed.capacity);
    let pass = policy.passes && is_due(placement).await?;
    let relieves = overfull && policy.rule != BalanceRule::Off;
    if !(relieves || pass || overfull && policy.passes) {
        return Ok(Outcome::Idle);
    }
    let mut scene = Scene::set(placement, &delegated, &scales).await?;
    let mut outcome = BalanceOutcome::default();
    if relieves {
        outcome = relief(placement, &mut scene, policy.rule).await?;
    }
    // Where no single move helps, several that hang together may.
    if policy.passes && scene.instance.overload(&scene.plan) > 0 {
        let plan = relief_of_all(&scene);
        outcome = outcome.and(carry_out_all(placement, &mut scene, &plan).await?);
    }
    if pass {
        let plan = plan(placement, &scene, &policy, placement.clock.now()).await?;
        outcome = outcome.and(carry_out_all(placement, &mut scene, &plan).await?);
        settings::set(&placement.store, LAST_PASS, &json!(placement.clock.now())).await?;
        loads::forget(&placement.store, placement.clock.now()).await?;
    }
    if outcome.moved + outcome.asked == 0 {
        return Ok(Outcome::Idle);
    }
    Ok(Outcome::Done(format!(
        "moved {}, asked {} to measure first",
        quantity(outcome.moved, "subnet"),
        quantity(outcome.asked, "agent"),
    )))
}

async fn is_due(placement: &Placement) -> Result<bool, store::StoreError> {
    let last = settings::get(&placement.store, LAST_PASS).await?.and_then(|value| value.as_i64());
    Ok(last.is_none_or(|last| last.saturating_add(PASS_MS) <= placement.clock.now().0))
}
