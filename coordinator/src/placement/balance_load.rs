//! Background task: balances the load of agents.

use std::sync::{Mutex, PoisonError};

use model::{BalanceRule, UnixMillis};
use serde_json::json;
use store::moves::MoveCause;
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

/// How long relief rests after a run that could not move anything. To find that out, all
/// delegations and measurements are read. Meanwhile a measurement may come that a move waits for.
const REST_MS: i64 = 60_000;

/// When relief last found nothing to move.
#[derive(Debug, Default)]
pub struct VainRelief(Mutex<Option<UnixMillis>>);

impl VainRelief {
    fn note(&self, now: UnixMillis) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(now);
    }

    /// Whether it was a short while ago.
    fn is_recent(&self, now: UnixMillis) -> bool {
        let last = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        last.is_some_and(|last| (last..last.plus_ms(REST_MS)).contains(&now))
    }
}

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
    let now = placement.clock.now();
    let is_vain = placement.vain_relief.is_recent(now);
    let relieves = is_overloaded && policy.rule != BalanceRule::Off && !is_vain;
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
        let relieved = execute_plan(placement, &mut problem, &plan, MoveCause::Relief).await?;
        outcome = outcome.and(relieved);
    }
    if relieves && outcome == BalanceOutcome::default() {
        placement.vain_relief.note(now);
    }
    if pass_is_due {
        let plan = plan_pass(placement, &problem, &policy, now).await?;
        let passed = execute_plan(placement, &mut problem, &plan, MoveCause::Pass).await?;
        outcome = outcome.and(passed);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relief_rests_for_a_while_after_it_found_nothing() {
        let vain = VainRelief::default();
        let at = UnixMillis(1_000);
        assert!(!vain.is_recent(at));
        vain.note(at);
        assert!(vain.is_recent(at) && vain.is_recent(at.plus_ms(REST_MS - 1)));
        assert!(!vain.is_recent(at.plus_ms(REST_MS)));
        assert!(!vain.is_recent(at.plus_ms(-1)), "the clock was set back");
    }
}
