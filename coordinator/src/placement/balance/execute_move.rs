//! Execution of one move of a subnet to another agent.

use delegation::Delegation;
use delegation::balance::{CostSource, Move, RefusalReason};
use hierarchy::Range;
use model::{AgentId, Reason};
use serde_json::{Value, json};
use store::delegations::DelegationOutcome;
use store::moves::MoveCause;
use store::{StoreError, loads, moves};

use crate::placement::Placement;
use crate::placement::balance::BalanceOutcome;
use crate::placement::balance::problem::BalanceProblem;
use crate::placement::balance::receivers::Receivers;
use crate::placement::constraints::assign::{enter_and_notify, moved_from};

/// Moves a subnet, or asks the agent that would get it to measure it first.
pub async fn execute_move(
    placement: &Placement,
    problem: &mut BalanceProblem,
    made: &Move,
    cause: MoveCause,
) -> Result<BalanceOutcome, StoreError> {
    let held = problem.held[made.subnet].clone();
    let from = problem.agents[made.from];
    let to = problem.agents[made.to];
    let now = placement.clock.now();
    // A prediction may be wrong, and a move costs more than a probe: the agent measures first, and
    // a later run has its answer.
    if made.source == CostSource::Predicted {
        let asked = confirm(placement, &mut problem.receivers, &held.subnet, to).await?;
        return Ok(BalanceOutcome { moved: 0, asked: usize::from(asked) });
    }
    let refused = refused_alternatives(problem, made);
    let note = format!("from {from} to {to} by the rule {}", cause.as_str());
    let _writing = placement.hierarchy.writing().await;
    let new = moves::New {
        subnet: held.subnet,
        from,
        to,
        // A subnet that was delegated again since the problem was built is left alone.
        fencing_number: held.fencing_number,
        cause,
        pages_a_day: problem.instance.subnets()[made.subnet].load,
        before_ms: made.before,
        after_ms: made.after,
        refused: &refused,
        note: &note,
        is_within_region: moved_from(placement, &held.subnet, to).is_some(),
    };
    let DelegationOutcome::Applied(_) = moves::execute(&placement.store, &new, now).await? else {
        return Ok(BalanceOutcome::default());
    };
    let delegation = Delegation { agent: to, reason: Reason::Balanced };
    enter_and_notify(placement, &held.subnet, delegation);
    Ok(BalanceOutcome { moved: 1, asked: 0 })
}

/// Asks an agent to measure a subnet, if it has room for another probe. Otherwise a later run asks
/// it: probes beyond what an agent can do would expire, and those of searches among them.
async fn confirm(
    placement: &Placement,
    receivers: &mut Receivers,
    subnet: &Range,
    agent: AgentId,
) -> Result<bool, StoreError> {
    let Some(delegated) = placement.hierarchy.current() else { return Ok(false) };
    let Some(id) = delegated.hierarchy().find(subnet) else { return Ok(false) };
    let predictor = &placement.predictor;
    if !receivers.can_measure(predictor, agent, id) {
        return Ok(false);
    }
    let asked = loads::confirm(&placement.store, subnet, agent, placement.clock.now()).await?;
    if asked {
        receivers.note_asked(predictor, agent, id);
        placement.agent_wakeups.wake([agent]);
    }
    Ok(asked)
}

/// The alternatives that were not taken, in the format of the column `moves.refused`.
pub fn refused_alternatives(problem: &BalanceProblem, made: &Move) -> Value {
    made.refused
        .iter()
        .map(|refused| {
            let (why, amount) = match refused.why {
                RefusalReason::Full { room } => ("full", Some(room as f64)),
                RefusalReason::Dearer { by } => ("dearer", Some(by)),
                RefusalReason::WorthMore => ("worth_more", None),
                RefusalReason::Varies => ("varies", None),
            };
            json!({
                "subnet": problem.held[refused.subnet].subnet.to_string(),
                "agent": problem.agents[refused.agent],
                "cost_ms": refused.cost,
                "why": why,
                "amount": amount,
            })
        })
        .collect()
}
