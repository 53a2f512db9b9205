//! Background task: balances the load of agents.

use model::BalanceRule;
use serde_json::json;
use store::{StoreError, agents, policy, settings};

use crate::placement::Placement;
use crate::placement::balance::BalanceOutcome;
use crate::placement::balance::pass::{execute_plan, plan_pass, plan_relief};
use crate::placement::balance::problem::BalanceProblem;
use crate::placement::balance::receivers::Receivers;
use crate::placement::balance::relieve::relieve_overloaded;
use crate::placement::load_snapshot::LoadSnapshot;
use crate::runtime::outcome::Outcome;
use crate::runtime::quantity::quantity;

/// Time between two passes.
const PASS_MS: i64 = 3_600_000;
/// The setting with the time of the last pass, so that a new leader does not begin another.
const LAST_PASS: &str = "balance_pass_ms";

/// Relieves overloaded agents, and every hour moves towards the cheapest plan, within the limits of
/// the policy.
pub async fn run(placement: &Placement) -> Result<Outcome, anyhow::Error> {
    let Some(delegated) = placement.hierarchy.current() else { return Ok(Outcome::Idle) };
    let policy = policy::balance(&placement.store).await?;
    let snapshot = LoadSnapshot::take(placement, &delegated).await?;
    // Subnets of an agent that is paused go to others in other ways, or come back with it.
    let workers = agents::workers(&placement.store).await?;
    let present = Receivers::of(&placement.predictor, &workers, placement.clock.now());
    let mut approved = snapshot.agents.iter().filter(|agent| present.may_give(agent.work.agent));
    let is_overloaded = approved.any(|agent| agent.load > agent.capacity);
    let relieves = is_overloaded && policy.rule != BalanceRule::Off;
    let pass_is_due = policy.passes && is_due(placement).await?;
    // Building the problem reads every measurement, so that most runs end here.
    if !(relieves || pass_is_due) {
        return Ok(Outcome::Idle);
    }
    let mut problem = BalanceProblem::build(placement, &delegated, snapshot).await?;
    let mut outcome = BalanceOutcome::default();
    if relieves {
        outcome = relieve_overloaded(placement, &mut problem, policy.rule).await?;
    }
    // Where no single move relieves an agent, several dependent moves may.
    if relieves && policy.passes && problem.instance.overload(&problem.plan) > 0 {
        let plan = plan_relief(&problem).await?;
        outcome = outcome.and(execute_plan(placement, &mut problem, &plan).await?);
    }
    if pass_is_due {
        let plan = plan_pass(placement, &problem, &policy, placement.clock.now()).await?;
        outcome = outcome.and(execute_plan(placement, &mut problem, &plan).await?);
        settings::set(&placement.store, LAST_PASS, &json!(placement.clock.now())).await?;
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

async fn is_due(placement: &Placement) -> Result<bool, StoreError> {
    let last = settings::get(&placement.store, LAST_PASS).await?.and_then(|value| value.as_i64());
    Ok(last.is_none_or(|last| last.saturating_add(PASS_MS) <= placement.clock.now().0))
}
