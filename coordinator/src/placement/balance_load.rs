//! Background task: balances the load of agents.

use std::sync::{Mutex, PoisonError};

use model::policy::BalancePolicy;
use model::{AgentId, BalanceRule, UnixMillis};
use serde_json::json;
use store::moves::MoveCause;
use store::{StoreError, agents, policy, settings};

use crate::placement::Placement;
use crate::placement::balance::BalanceOutcome;
use crate::placement::balance::pass::{execute_plan, plan_pass, plan_relief};
use crate::placement::balance::problem::BalanceProblem;
use crate::placement::balance::receivers::Receivers;
use crate::placement::balance::relieve::relieve_overloaded;
use crate::placement::load_snapshot::{AgentLoad, LoadSnapshot};
use crate::runtime::outcome::Outcome;
use crate::runtime::quantity::quantity;

/// Time between two passes.
const PASS_MS: i64 = 3_600_000;
/// The setting with the time of the last pass, so that a new leader does not begin another.
const LAST_PASS: &str = "balance_pass_ms";

/// How long relief rests after a run that could not move anything. To find that out, all
/// delegations and measurements are read. Meanwhile a measurement may come that a move waits for.
const REST_MS: i64 = 60_000;

/// The last time at which relief found nothing to move.
#[derive(Debug, Default)]
pub struct VainRelief(Mutex<Option<Vain>>);

#[derive(Debug)]
struct Vain {
    at: UnixMillis,
    policy: BalancePolicy,
    overloaded: Vec<AgentId>,
}

impl VainRelief {
    fn note(&self, at: UnixMillis, policy: BalancePolicy, overloaded: Vec<AgentId>) {
        let vain = Vain { at, policy, overloaded };
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(vain);
    }

    /// Whether it was a short while ago, with the same agents and policy.
    fn is_recent(&self, now: UnixMillis, policy: BalancePolicy, overloaded: &[AgentId]) -> bool {
        let last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        last.as_ref().is_some_and(|last| {
            (last.at..last.at.plus_ms(REST_MS)).contains(&now)
                && last.policy == policy
                && last.overloaded == overloaded
        })
    }
}

/// Relieves overloaded agents, and every hour moves towards the cheapest plan, within the limits of
/// the policy.
pub async fn run(placement: &Placement) -> Result<Outcome, anyhow::Error> {
    let Some(delegated) = placement.hierarchy.current() else { return Ok(Outcome::Idle) };
    let policy = policy::settings(&placement.store).await?.balance;
    let snapshot = LoadSnapshot::take(placement, &delegated).await?;
    // Subnets of an agent that is paused go to others in other ways, or come back with it.
    let workers = agents::workers(&placement.store).await?;
    let now = placement.clock.now();
    let present = Receivers::of(&placement.predictor, &workers, now);
    let has_too_much = |agent: &&AgentLoad| {
        present.may_give(agent.work.agent)
            && agent.load.max(agent.work.held_at_most) > agent.capacity
    };
    let overloaded = snapshot.agents.iter().filter(has_too_much);
    let overloaded: Vec<AgentId> = overloaded.map(|agent| agent.work.agent).collect();
    let pass_is_due = policy.passes && is_due(placement).await?;
    let rests = !pass_is_due && placement.vain_relief.is_recent(now, policy, &overloaded);
    let relieves = !overloaded.is_empty() && policy.rule != BalanceRule::Off && !rests;
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
        let done = execute_plan(placement, &mut problem, &plan, MoveCause::Relief).await?;
        outcome = outcome.and(done);
    }
    if relieves && outcome == BalanceOutcome::default() {
        placement.vain_relief.note(now, policy, overloaded);
    }
    if pass_is_due {
        let plan = plan_pass(placement, &problem, &policy, now).await?;
        let done = execute_plan(placement, &mut problem, &plan, MoveCause::Pass).await?;
        outcome = outcome.and(done);
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
    Ok(last.is_none_or(|last| is_over(last, placement.clock.now().0)))
}

/// Whether the time between two passes is over. A last pass in the future was noted while the
/// clock was ahead.
fn is_over(last: i64, now: i64) -> bool {
    last > now || last.saturating_add(PASS_MS) <= now
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_go_on_after_the_clock_was_ahead() {
        assert!(!is_over(0, PASS_MS - 1));
        assert!(is_over(0, PASS_MS));
        assert!(is_over(PASS_MS, 0));
    }

    #[test]
    fn relief_rests_for_a_while_after_it_found_nothing() {
        let vain = VainRelief::default();
        let at = UnixMillis(1_000);
        let policy = BalancePolicy::default();
        let one = [AgentId::new(1)];
        let is_recent = |ms| vain.is_recent(at.plus_ms(ms), policy, &one);
        assert!(!is_recent(0));
        vain.note(at, policy, one.to_vec());
        assert!(is_recent(0) && is_recent(REST_MS - 1));
        assert!(!is_recent(REST_MS));
        assert!(!is_recent(-1), "the clock was set back");
        assert!(!vain.is_recent(at, policy, &[AgentId::new(2)]), "another agent");
        let other = BalancePolicy { rule: BalanceRule::Variance, ..policy };
        assert!(!vain.is_recent(at, other, &one), "another rule");
    }
}
